"""Where a live StatefulSet differs from what its engine asks for. Pure."""
