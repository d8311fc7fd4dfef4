"""What is there of an engine, whom a change concerns, and how busy its pods are. Writes nothing."""
