"""The same with real pods, on a cluster of this machine, while queries come in all the time; needs root."""
