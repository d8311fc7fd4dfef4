"""Container images without a daemon or a registry: how they are put together, and which ones there are."""
