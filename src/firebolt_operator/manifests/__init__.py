"""What is true of any Kubernetes object: how it is named and owned, and when two of them say the same. Pure."""
