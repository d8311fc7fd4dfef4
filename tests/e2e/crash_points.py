"""At which moments of a rollout may somebody strike? Ten of them, from its first trace to its last."""

from collections.abc import Callable
from dataclasses import dataclass

from firebolt_operator.api.names import LABEL_GENERATION, engine_service_name
from firebolt_operator.api.resources import CONFIG_MAPS, PODS, SERVICES, STATEFULSETS
from tests.e2e.informer import Informer, is_ready


@dataclass(frozen=True, slots=True)
class Rollout:
    """From generation 0 to 1, with two pods each."""

    informer: Informer
    engine: str

    def has_phase(self, phase: str) -> bool:
        found = self.informer.engine(self.engine)
        return found is not None and found.status.phase == phase

    def pods(self, generation: int) -> int:
        return len(self.informer.all_of(PODS, self.engine, generation))

    def ready_pods(self, generation: int) -> int:
        return sum(map(is_ready, self.informer.all_of(PODS, self.engine, generation)))

    def selects(self, generation: int) -> bool:
        service = self.informer.get(SERVICES, engine_service_name(self.engine))
        return service is not None and service["spec"]["selector"][LABEL_GENERATION] == str(generation)

    def has_config(self, generation: int) -> bool:
        return bool(self.informer.all_of(CONFIG_MAPS, self.engine, generation))

    def has_statefulset(self, generation: int) -> bool:
        found = self.informer.all_of(STATEFULSETS, self.engine, generation)
        return bool(found) and "deletionTimestamp" not in found[0]["metadata"]

    def has_terminating_pods(self, generation: int) -> bool:
        return any(
            "deletionTimestamp" in pod["metadata"] for pod in self.informer.all_of(PODS, self.engine, generation)
        )


CrashPoint = Callable[[Rollout], bool]

CRASH_POINTS: dict[str, CrashPoint] = {
    "the-edit-is-noticed": lambda rollout: rollout.has_phase("creating"),
    "the-config-is-there": lambda rollout: rollout.has_config(1),
    "the-statefulset-is-there": lambda rollout: rollout.has_statefulset(1),
    "the-first-pod-is-there": lambda rollout: rollout.pods(1) >= 1,
    "the-first-pod-is-ready": lambda rollout: rollout.ready_pods(1) >= 1,
    "all-pods-are-ready": lambda rollout: rollout.ready_pods(1) == 2,
    "the-selector-has-moved": lambda rollout: rollout.selects(1),
    "the-drain-has-begun": lambda rollout: rollout.has_phase("draining"),
    "the-old-statefulset-goes": lambda rollout: rollout.selects(1) and not rollout.has_statefulset(0),
    "the-old-pods-end": lambda rollout: rollout.has_terminating_pods(0),
}
