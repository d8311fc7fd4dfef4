"""What was seen of one engine at the start of a pass, as frozen facts."""

from collections.abc import Iterable
from dataclasses import dataclass

from firebolt_operator.engine.views import Child, PodView


@dataclass(frozen=True, slots=True, kw_only=True)
class PodCount:
    """Pods that a generation's StatefulSet owns and that are not terminating."""

    total: int = 0
    ready: int = 0
    trouble: str = ""  # what the first pod in trouble says, with its name
    doubt: str = ""  # the same of what may be trouble, if it lasts


NO_PODS = PodCount()


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationFacts:
    """The objects of one generation; None means confirmed absent."""

    statefulset: Child | None = None
    config_map: Child | None = None
    headless_service: Child | None = None
    pods: PodCount = NO_PODS
    running_pods: tuple[PodView, ...] = ()  # owned pods that may still run queries, terminating ones included

    @property
    def replicas(self) -> int | None:
        """What its StatefulSet asks for; None without one."""
        return None if self.statefulset is None else self.statefulset.spec.get("replicas")

    @property
    def busy_pods(self) -> tuple[PodView, ...]:
        """Those that may have queries; an engine that crashed has none, and could never be asked."""
        return tuple(pod for pod in self.running_pods if not pod.engine_ended)


ABSENT = GenerationFacts()


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainVerdict:
    """What asking the draining pods brought; `problem` says why it could not be told."""

    is_drained: bool
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFacts:
    current: GenerationFacts
    active: GenerationFacts
    draining: GenerationFacts
    service: Child | None
    drain: DrainVerdict | None = None  # None: nobody knows yet


NOTHING_YET = EngineFacts(current=ABSENT, active=ABSENT, draining=ABSENT, service=None)


def count_pods(pods: Iterable[PodView], statefulset_uid: str) -> PodCount:
    """A label proves nothing: only pods of that very StatefulSet count, and only while they stay."""
    mine = sorted((pod for pod in pods if pod.owner_uid == statefulset_uid and not pod.is_deleting), key=_by_name)
    trouble = next((f"{pod.name}: {pod.trouble}" for pod in mine if pod.trouble), "")
    doubt = next((f"{pod.name}: {pod.doubt}" for pod in mine if pod.doubt), "")
    return PodCount(total=len(mine), ready=sum(pod.is_ready for pod in mine), trouble=trouble, doubt=doubt)


def running_pods(pods: Iterable[PodView], statefulset_uid: str) -> tuple[PodView, ...]:
    """A terminating pod still finishes its queries, so it counts until it stops running."""
    mine = (pod for pod in pods if pod.owner_uid == statefulset_uid and pod.is_running)
    return tuple(sorted(mine, key=_by_name))


def _by_name(pod: PodView) -> tuple[int, str]:
    return len(pod.name), pod.name
