"""What an engine does next, decided from frozen facts. Pure."""
