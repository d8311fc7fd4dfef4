"""Metrics, events and logs."""
