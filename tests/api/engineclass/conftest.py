"""The fixtures of the engine tests: the same operator, the same person."""

from tests.api.engine.fixtures import crds, operator, person, start_operator

__all__ = ["crds", "operator", "person", "start_operator"]
