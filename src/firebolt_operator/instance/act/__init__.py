"""What is written for an instance, in the order in which its objects depend on each other."""
