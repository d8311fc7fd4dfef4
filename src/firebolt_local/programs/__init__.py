"""The programs that clusters are made of: which ones, from which pinned sources, built once into a cache."""
