"""A Kubernetes with real containers on this machine: one or more nodes, each in namespaces of its own."""
