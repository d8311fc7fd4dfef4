"""Stand-ins for Firebolt's closed images: not Firebolt's software, and no substitute for it.

Each honours the command line, files, ports, probes, metrics and signals that the operator and the gateway rely on, so
that clusters can be tried out without the real images. An image built from one must be labelled as a stand-in.
"""
