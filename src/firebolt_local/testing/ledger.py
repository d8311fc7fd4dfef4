"""What happened, in which order? Every change of the kinds that matter, as the API server numbers them.

Watches of different kinds overtake each other, but resource versions are one sequence over all kinds: sorted by them,
the changes are the history as the server stored it, and no moment between two of them goes unseen.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import msgspec

from firebolt_local.errors import LocalError
from firebolt_local.testing.following import ListsAndWatches
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.errors import ExpiredError, TransientError
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Resource

CONTROLLER_REVISIONS: Final = Resource("apps", "v1", "controllerrevisions", "ControllerRevision")
REPLICA_SETS: Final = Resource("apps", "v1", "replicasets", "ReplicaSet")
ENGINE_KINDS: Final = (
    STATEFULSETS,
    SERVICES,
    CONFIG_MAPS,
    PODS,
    ENDPOINT_SLICES,
    CONTROLLER_REVISIONS,
    PERSISTENT_VOLUME_CLAIMS,
)
INSTANCE_KINDS: Final = (
    *ENGINE_KINDS,
    DEPLOYMENTS,
    REPLICA_SETS,
    SECRETS,
    SERVICE_ACCOUNTS,
    ROLES,
    ROLE_BINDINGS,
    POD_DISRUPTION_BUDGETS,
)
OWN_KINDS: Final = (FIREBOLT_ENGINES, FIREBOLT_ENGINE_CLASSES, FIREBOLT_INSTANCES)
SECONDS: Final = 60.0
_AGAIN_AFTER_SECONDS: Final = 0.2

World = Mapping[tuple[str, str], Manifest]
"""The objects of one namespace by kind and name."""


class NeverSoError(LocalError):
    """What was waited for did not happen."""


@dataclass(frozen=True, slots=True)
class Change:
    version: int  # 0: it was like that at the beginning
    kind: str
    name: str
    after: Manifest | None  # None: deleted


@dataclass(slots=True)
class Ledger:
    """Cluster-wide, so that one set of watches serves all namespaces."""

    worlds: dict[str, dict[tuple[str, str], Manifest]] = field(default_factory=lambda: defaultdict(dict))
    changes: dict[str, list[Change]] = field(default_factory=lambda: defaultdict(list))
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def record(self, resource: Resource, manifest: Manifest, *, is_deleted: bool = False) -> None:
        metadata = manifest["metadata"]
        namespace, key = metadata["namespace"], (resource.kind, metadata["name"])
        after = None if is_deleted else {**manifest, "kind": resource.kind}
        if after is None:
            self.worlds[namespace].pop(key, None)
        else:
            self.worlds[namespace][key] = after
        self.changes[namespace].append(Change(int(metadata["resourceVersion"]), *key, after))
        self._changed.set()
        self._changed = asyncio.Event()

    def known(self, resource: Resource) -> dict[tuple[str, str], Manifest]:
        """By namespace and name."""
        return {
            (namespace, name): manifest
            for namespace, world in self.worlds.items()
            for (kind, name), manifest in world.items()
            if kind == resource.kind
        }

    async def until(self, namespace: str, problems: Callable[[World], Iterable[object]]) -> None:
        """Waits until there are none; says which are left otherwise."""
        found: list[object] = []
        try:
            async with asyncio.timeout(SECONDS):
                while found := list(problems(self.worlds[namespace])):
                    await self._changed.wait()
        except TimeoutError as err:
            raise NeverSoError(f"still so after {SECONDS:g} s: {found}") from err

    def forget(self, namespace: str) -> None:
        """The past is judged; the present stays as the beginning of what comes."""
        world = self.worlds[namespace]
        self.changes[namespace] = [Change(0, kind, name, manifest) for (kind, name), manifest in world.items()]


@asynccontextmanager
async def a_ledger(client: ListsAndWatches, kinds: Sequence[Resource] = ENGINE_KINDS) -> AsyncGenerator[Ledger]:
    """Complete from the moment it is opened."""
    ledger = Ledger()
    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[None]] = []
        for resource in (*OWN_KINDS, *kinds):
            listed = asyncio.Event()
            follow = _follow(client, Scope(resource=resource), ledger, listed)
            tasks.append(group.create_task(follow, name=f"ledger {resource.plural}"))
            await listed.wait()
        yield ledger
        for task in tasks:
            task.cancel()


async def _follow(client: ListsAndWatches, scope: Scope, ledger: Ledger, listed: asyncio.Event) -> None:
    """For ever. A watch that breaks off goes on where it was; what a server has forgotten is listed once more."""
    version = await _list(client, scope, ledger)
    listed.set()
    while True:
        try:
            async with aclosing(client.watch(scope, resource_version=version)) as events:
                async for event in events:
                    manifest = _decoded(event.body)
                    version = manifest["metadata"]["resourceVersion"]
                    if event.type != "BOOKMARK":
                        ledger.record(scope.resource, manifest, is_deleted=event.type == "DELETED")
        except ExpiredError:
            version = await _list(client, scope, ledger)
        except TransientError:
            await asyncio.sleep(_AGAIN_AFTER_SECONDS)


async def _list(client: ListsAndWatches, scope: Scope, ledger: Ledger) -> str:
    """The version of it. What was known and is not there any more has gone meanwhile."""
    version, gone = "", ledger.known(scope.resource)
    async with aclosing(client.pages(scope)) as pages:
        async for page in pages:
            version = page.resource_version
            for manifest in map(_decoded, page.items):
                gone.pop((manifest["metadata"]["namespace"], manifest["metadata"]["name"]), None)
                ledger.record(scope.resource, manifest)
    for manifest in gone.values():
        ledger.record(scope.resource, manifest, is_deleted=True)
    return version


def _decoded(body: bytes) -> Manifest:
    return msgspec.json.decode(body, type=Manifest)
