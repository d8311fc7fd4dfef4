"""A real Kubernetes on this machine, without Docker or a registry: for tests, benchmarks and the demo."""
