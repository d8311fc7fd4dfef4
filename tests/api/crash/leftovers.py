"""What may be there of an engine?"""

from collections import Counter
from dataclasses import dataclass

from firebolt_local.testing.ledger import World
from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class AtRest:
    """An engine that has come to rest on a generation."""

    name: str
    generation: int
    replicas: int

    def objects(self) -> Counter[str]:
        statefulset = names.statefulset_name(self.name, self.generation)
        headless = names.headless_service_name(self.name, self.generation)
        service = names.engine_service_name(self.name)
        return Counter(
            [
                f"StatefulSet {statefulset}",
                f"ControllerRevision of {statefulset}",
                f"ConfigMap {names.config_map_name(self.name, self.generation)}",
                *(f"Pod {statefulset}-{ordinal}" for ordinal in range(self.replicas)),
                *(f"Service {name}" for name in (service, headless)),
                *(f"EndpointSlice of {name}" for name in (service, headless)),
            ]
        )

    def problems(self, world: World) -> list[str]:
        found = world.get(("FireboltEngine", self.name))
        return [f"FireboltEngine {self.name} is missing"] if found is None else self._problems(found)

    def _problems(self, found: Manifest) -> list[str]:
        engine = parse_engine(found)
        status = engine.status
        told = {
            "phase": status.phase,
            "observedGeneration": status.observed_generation,
            "currentGeneration": status.current_generation,
            "activeGeneration": status.active_generation,
            "drainingGeneration": status.draining_generation,
            "readyReplicas": status.ready_replicas,
            "reconciling": find_condition(status.conditions, names.CONDITION_RECONCILING),
        }
        wanted = {
            "phase": "stable" if self.replicas else "stopped",
            "observedGeneration": engine.metadata.generation,
            "currentGeneration": self.generation,
            "activeGeneration": self.generation,
            "drainingGeneration": None,
            "readyReplicas": self.replicas,
            "reconciling": None,
        }
        return [f"{name} is {told[name]}, not {value}" for name, value in wanted.items() if told[name] != value]
