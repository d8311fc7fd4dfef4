"""What is written for authentication."""
