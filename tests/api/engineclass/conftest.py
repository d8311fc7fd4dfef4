"""The fixtures of the engine tests: the same operator, the same person."""

from tests.api.engine.fixtures import operator, person, start_operator

__all__ = ["operator", "person", "start_operator"]
