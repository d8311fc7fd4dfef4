"""The operator at work, for people who want to see it before they read about it."""

from firebolt_local.demo.simulated import run

__all__ = ["run"]
