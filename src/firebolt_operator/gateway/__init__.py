"""The gateway of an instance: its pods, its Service and its rights. Pure."""
