"""Envoy's whole configuration and the scripts that it runs on every query. Pure."""
