"""Why is it not ready? What was seen, what follows from it, and how that is told."""
