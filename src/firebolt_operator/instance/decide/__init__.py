"""What an instance does next, decided from frozen facts. Pure."""
