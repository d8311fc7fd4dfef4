"""What authentication needs next, decided from frozen facts. Pure."""
