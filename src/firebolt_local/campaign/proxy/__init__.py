"""The only way of an operator to its API server, on which one thing at a time goes wrong."""
