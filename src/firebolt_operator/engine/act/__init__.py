"""What is written for an engine, in an order that survives a crash after any write."""
