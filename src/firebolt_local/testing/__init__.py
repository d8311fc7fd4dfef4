"""What end-to-end tests, benchmarks and the demo share: load, watches, the installed operator, its faults."""
