"""Which generations are there, what is each for, how far is it, and has the engine arrived?"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kubectl_firebolt import names
from kubectl_firebolt.explain.decide.engine import engine_state, is_well, next_of
from kubectl_firebolt.explain.decide.pods import is_ready, pod_findings
from kubectl_firebolt.explain.seen import Seen, ago, parse_time
from kubectl_firebolt.manifest import Manifest, condition_of, is_deleting, is_true, labels_of, name_of, spec_of


class Arrival(StrEnum):
    ON_THE_WAY = "on the way"
    ARRIVED = "arrived"
    STUCK = "stuck"  # a person has to act
    GONE = "gone"


class Role(StrEnum):
    STARTING = "starting"
    SERVING = "serving"
    DRAINING = "draining"
    LEAVING = "leaving"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    number: int
    role: Role
    wanted: int
    ready: int
    image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PodLine:
    name: str
    is_ready: bool
    state: str
    age: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    name: str
    phase: str
    state: str
    message: str  # of Ready
    generations: Sequence[Generation]
    pods: Sequence[PodLine]
    next_step: str
    arrival: Arrival
    is_under_way: bool  # by the engine's own word, whatever is known of its pods


def rollout(seen: Seen) -> Rollout:
    if seen.subject is None:
        return _gone(seen)
    ready = condition_of(seen.there, names.CONDITION_READY) or {}
    return Rollout(
        name=seen.name,
        phase=str(seen.status.get("phase", "")),
        state=engine_state(seen),
        message=str(ready.get("message", "")),
        generations=_generations(seen),
        pods=[_pod(seen, pod) for pod in seen.pods],
        next_step=next_of(seen),
        arrival=_arrival(seen),
        is_under_way=not _says_settled(seen),
    )


def _gone(seen: Seen) -> Rollout:
    return Rollout(
        name=seen.name,
        phase="",
        state="gone",
        message="",
        generations=(),
        pods=[_pod(seen, pod) for pod in seen.pods],
        next_step="",
        arrival=Arrival.GONE,
        is_under_way=False,
    )


def _arrival(seen: Seen) -> Arrival:
    if is_true(condition_of(seen.there, names.CONDITION_STALLED)):
        return Arrival.STUCK
    return Arrival.ARRIVED if _says_settled(seen) and _is_shown(seen) else Arrival.ON_THE_WAY


def _says_settled(seen: Seen) -> bool:
    is_told = int(seen.status.get("observedGeneration") or 0) >= int(seen.there["metadata"].get("generation", 0))
    return is_well(seen) and is_told and not is_true(condition_of(seen.there, names.CONDITION_RECONCILING))


def _is_shown(seen: Seen) -> bool:
    """Pods are watched apart from their engine: it may be known to serve before its last pod is known to be ready."""
    serving = seen.pods_of(int(seen.status.get("activeGeneration", -1)))
    return sum(map(is_ready, serving)) >= int(seen.status.get("readyReplicas") or 0)


def _generations(seen: Seen) -> list[Generation]:
    """The newest first."""
    found = [each for each in seen.children if each.get("kind") == "StatefulSet"]
    numbered = [(int(labels_of(each).get(names.LABEL_GENERATION, "-1")), each) for each in found]
    return [_generation(seen, number, each) for number, each in sorted(numbered, key=lambda pair: -pair[0])]


def _generation(seen: Seen, number: int, statefulset: Manifest) -> Generation:
    spec = spec_of(statefulset)
    containers: list[Manifest] = spec.get("template", {}).get("spec", {}).get("containers", [])
    image = next((str(each.get("image")) for each in containers if each.get("name") == names.CONTAINER_ENGINE), "")
    return Generation(
        number=number,
        role=_role(seen, number, statefulset),
        wanted=int(spec.get("replicas", 1)),
        ready=sum(map(is_ready, seen.pods_of(number))),
        image=image,
    )


def _role(seen: Seen, number: int, statefulset: Manifest) -> Role:
    if is_deleting(statefulset):
        return Role.LEAVING
    if number == seen.status.get("activeGeneration"):
        return Role.SERVING
    if number == seen.status.get("drainingGeneration"):
        return Role.DRAINING
    return Role.STARTING if number == seen.status.get("currentGeneration") else Role.LEAVING


def _pod(seen: Seen, pod: Manifest) -> PodLine:
    created_at = parse_time(pod["metadata"].get("creationTimestamp"))
    return PodLine(
        name=name_of(pod),
        is_ready=is_ready(pod),
        state=_pod_state(seen, pod),
        age=ago(created_at, seen.now) if created_at else "",
    )


def _pod_state(seen: Seen, pod: Manifest) -> str:
    if is_deleting(pod):
        return "ending"
    found = pod_findings(seen, [pod])
    if not found:
        return "ready"
    return found[0].what.removeprefix(f"pod {name_of(pod)}").lstrip(",: ").removeprefix("is ")
