"""A query through the gateway: asked, and its answer shown."""
