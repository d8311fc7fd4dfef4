"""Fixtures of this folder; tests of classes share them."""

from tests.api.engine.fixtures import operator, person, start_operator

__all__ = ["operator", "person", "start_operator"]
