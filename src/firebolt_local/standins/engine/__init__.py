"""The stand-in for Firebolt's engine: DuckDB behind the ports, files, probes and signals of the real one."""
