"""The person of the engine tests; operators are started by the tests themselves."""

from tests.api.engine.fixtures import crds, person

__all__ = ["crds", "person"]
