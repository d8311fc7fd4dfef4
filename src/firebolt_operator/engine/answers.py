"""What pods said when they were asked how busy they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from firebolt_operator.engine.views import PodView

PodKey = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Activity:
    running: int
    suspended: int
    idle_seconds: float | None = None  # since its last query; None: it does not tell; NaN: it tells nonsense

    @property
    def is_idle(self) -> bool:
        return self.running == 0 and self.suspended == 0


def pod_key(pod: PodView) -> PodKey:
    """A successor has the same name, but an address of its own."""
    return pod.namespace, pod.name, pod.owner_uid, pod.ip


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Of pods that were asked together; for each what it does, or why it could not be told."""

    asked_at: datetime  # before the first of them was sent anything
    told: Mapping[PodKey, Activity | str]

    def of(self, pods: Sequence[PodView]) -> list[Activity | str] | None:
        """None when one of them was not asked: what the others do says nothing of it."""
        told = [self.told.get(pod_key(pod)) for pod in pods]
        known = [each for each in told if each is not None]
        return known if len(known) == len(told) else None
