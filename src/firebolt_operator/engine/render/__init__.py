"""What an engine's objects look like. Pure."""
