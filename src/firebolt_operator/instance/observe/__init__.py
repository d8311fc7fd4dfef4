"""What is there of an instance, and which instance a change concerns. Writes nothing."""
