"""What has the cluster told about one namespace? The newest state of every object, and when traffic was switched."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from firebolt_local.cluster.kube_http import has_condition
from firebolt_local.testing.following import ListsAndWatches, Seen, follow
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import LABEL_ENGINE, LABEL_GENERATION, engine_service_name
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    PODS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.kube.ports import EventType, Scope
from firebolt_operator.refs import Manifest, Resource

WATCHED = (FIREBOLT_ENGINES, FIREBOLT_INSTANCES, PODS, SERVICES, STATEFULSETS, CONFIG_MAPS)


@dataclass(frozen=True, slots=True)
class Switch:
    """The moment at which an engine's Service was seen to select another generation."""

    at: float
    engine: str
    generation: int


@dataclass(slots=True)
class Informer:
    clock: Callable[[], float]
    kinds: tuple[Resource, ...] = WATCHED
    switches: list[Switch] = field(default_factory=list[Switch])
    phases: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # engine and phase, each change
    _objects: dict[tuple[str, str], Manifest] = field(default_factory=dict[tuple[str, str], Manifest])
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def get(self, resource: Resource, name: str) -> Manifest | None:
        return self._objects.get((resource.kind, name))

    def engine(self, name: str) -> FireboltEngine | None:
        found = self.get(FIREBOLT_ENGINES, name)
        return parse_engine(found) if found else None

    def all_of(self, resource: Resource, engine: str, generation: int | None = None) -> list[Manifest]:
        """What carries the engine's label, and the generation's if one is given."""
        wanted = {LABEL_ENGINE: engine} | ({} if generation is None else {LABEL_GENERATION: str(generation)})
        found = self.of_kind(resource)
        return [each for each in found if wanted.items() <= each["metadata"].get("labels", {}).items()]

    def of_kind(self, resource: Resource) -> list[Manifest]:
        found = {name: each for (kind, name), each in self._objects.items() if kind == resource.kind}
        return [each for _, each in sorted(found.items())]

    def phases_of(self, engine: str) -> list[str]:
        return [phase for name, phase in self.phases if name == engine]

    async def until(self, is_there: Callable[[], bool]) -> None:
        while not is_there():
            self._changed.clear()
            await self._changed.wait()

    async def run(self, reader: ListsAndWatches, namespace: str) -> None:
        """For ever, through restarts of the API server."""
        async with asyncio.TaskGroup() as group:
            for resource in self.kinds:
                scope = Scope(resource=resource, namespace=namespace)
                group.create_task(follow(reader, scope, self._seeing(resource)), name=resource.plural)

    def _seeing(self, resource: Resource) -> Seen:
        def seen(kind: EventType, manifest: Manifest) -> None:
            key = (resource.kind, str(manifest["metadata"]["name"]))
            before = self._objects.get(key)
            if kind == "DELETED":
                self._objects.pop(key, None)
            else:
                self._objects[key] = manifest
                self._note(resource, before, manifest)
            self._changed.set()

        return seen

    def _note(self, resource: Resource, before: Manifest | None, now: Manifest) -> None:
        name = now["metadata"]["name"]
        if resource == FIREBOLT_ENGINES:
            phase = now.get("status", {}).get("phase", "")
            if phase and (name, phase) != next((each for each in reversed(self.phases) if each[0] == name), None):
                self.phases.append((name, phase))
        if resource == SERVICES and before is not None and (moved := _moved(before, now)) is not None:
            self.switches.append(Switch(self.clock(), now["metadata"]["labels"][LABEL_ENGINE], moved))


def _moved(before: Manifest, now: Manifest) -> int | None:
    engine = now["metadata"].get("labels", {}).get(LABEL_ENGINE, "")
    if now["metadata"]["name"] != engine_service_name(engine):
        return None
    old, new = (each["spec"]["selector"].get(LABEL_GENERATION) for each in (before, now))
    return None if old == new else int(new)


def is_ready(manifest: Manifest) -> bool:
    return has_condition(manifest, "Ready")
