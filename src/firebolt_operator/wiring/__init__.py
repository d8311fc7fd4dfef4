"""Which parts the process consists of."""
