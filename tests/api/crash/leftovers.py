"""What may be there of an engine, and what is there too much or too little?"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.refs import Manifest
from tests.api.crash.ledger import World

EVERY_NAMESPACE_HAS: Final = frozenset({"ConfigMap kube-root-ca.crt", "ServiceAccount default"})
CAUSES: Final = frozenset({"FireboltEngine", "FireboltInstance"})
NAMED_AT_RANDOM: Final = frozenset({"EndpointSlice", "ControllerRevision", "ReplicaSet"})


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


def differences(found: Iterable[Manifest], wanted: Counter[str]) -> list[str]:
    there = inventory(found)
    return [
        *(f"left over: {name}" for name in sorted((there - wanted).elements())),
        *(f"missing: {name}" for name in sorted((wanted - there).elements())),
    ]


def inventory(found: Iterable[Manifest]) -> Counter[str]:
    """Everything that somebody made because of an engine or an instance."""
    made = (each for each in found if each["kind"] not in CAUSES and not _is_history(each))
    return Counter(name for each in made if (name := _described(each)) not in EVERY_NAMESPACE_HAS)


def _is_history(manifest: Manifest) -> bool:
    """Kubernetes keeps what a Deployment was before, without pods."""
    return bool(manifest["kind"] == "ReplicaSet" and manifest["spec"].get("replicas") == 0)


def _described(manifest: Manifest) -> str:
    """By name, or by its owner's where the name is made up anew each time."""
    kind, metadata = manifest["kind"], manifest["metadata"]
    owners: list[Manifest] = metadata.get("ownerReferences", [])
    if kind == "Pod" and owners and owners[0]["kind"] == "ReplicaSet":
        return f"Pod of {owners[0]['name'].rpartition('-')[0]}"
    if kind not in NAMED_AT_RANDOM:
        return f"{kind} {metadata['name']}"
    return f"{kind} of {', '.join(owner['name'] for owner in owners) or 'nobody'}"
