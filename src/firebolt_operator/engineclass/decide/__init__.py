"""What a class has to tell. Pure."""
