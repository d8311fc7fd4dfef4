"""How the objects of one engine look, for decisions that must not care how they are rendered."""

from collections.abc import Collection
from typing import Final, Protocol

from firebolt_operator.engine.views import Child
from firebolt_operator.refs import Manifest

UPDATE_STRATEGY: Final = "OnDelete"
"""An edit by hand or `kubectl rollout restart` replaces no serving pod in place: it is drift, and a generation."""


class Blueprint(Protocol):
    def certificates(self, generation: int, /) -> tuple[Manifest, ...]:
        """The request for its certificate; nothing where engines speak plaintext."""
        ...

    def config_map(self, generation: int, /) -> Manifest: ...
    def headless_service(self, generation: int, /) -> Manifest: ...
    def statefulset(self, generation: int, /) -> Manifest: ...
    def service(self, generation: int, /) -> Manifest: ...
    def disruption_budget(self, generations: Collection[int], most: int | str, /) -> Manifest: ...
    def drift(self, statefulset: Child, /) -> str | None:
        """How a live StatefulSet differs from what is wanted; None when it does not."""
        ...
