"""What may be there of an engine, and what is there too much or too little?"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.refs import Manifest
from tests.api.crash.ledger import World

EVERY_NAMESPACE_HAS: Final = frozenset({"ConfigMap kube-root-ca.crt"})
NAMED_AT_RANDOM: Final = frozenset({"EndpointSlice", "ControllerRevision"})


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
        }
        wanted = {
            "phase": "stable" if self.replicas else "stopped",
            "observedGeneration": engine.metadata.generation,
            "currentGeneration": self.generation,
            "activeGeneration": self.generation,
            "drainingGeneration": None,
            "readyReplicas": self.replicas,
        }
        return [f"{name} is {told[name]}, not {value}" for name, value in wanted.items() if told[name] != value]


def differences(found: Iterable[Manifest], wanted: Counter[str]) -> list[str]:
    there = Counter(described(manifest) for manifest in found)
    for name in EVERY_NAMESPACE_HAS:
        there.pop(name, None)
    return [
        *(f"left over: {name}" for name in sorted((there - wanted).elements())),
        *(f"missing: {name}" for name in sorted((wanted - there).elements())),
    ]


def described(manifest: Manifest) -> str:
    kind, metadata = manifest["kind"], manifest["metadata"]
    if kind not in NAMED_AT_RANDOM:
        return f"{kind} {metadata['name']}"
    owners: list[Manifest] = metadata.get("ownerReferences", [])
    return f"{kind} of {', '.join(owner['name'] for owner in owners) or 'nobody'}"
