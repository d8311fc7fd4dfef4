"""The stand-in for Firebolt's metadata service: its configuration, its database and its health protocol."""
