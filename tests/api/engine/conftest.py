"""Fixtures of this folder; tests of classes share them."""

from tests.api.engine.fixtures import crds, operator, person, start_operator

__all__ = ["crds", "operator", "person", "start_operator"]
