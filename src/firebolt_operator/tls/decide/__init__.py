"""What TLS needs next, decided from frozen facts. Pure."""
