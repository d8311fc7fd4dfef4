"""A control plane of real programs on loopback: processes, keys, files, and simulated pods that need no node."""
