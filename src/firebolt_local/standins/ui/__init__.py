"""The stand-in for Firebolt's UI: one page on the port of the real one."""
