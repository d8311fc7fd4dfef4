"""Where does one case happen? In a namespace of its own, with an operator of its own behind a proxy of its own."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from firebolt_local.campaign.judge.normal import Lens, Picture, picture
from firebolt_local.campaign.judge.settling import unsettled
from firebolt_local.campaign.proxy.recording import Watchman
from firebolt_local.campaign.proxy.server import fault_proxy, listening
from firebolt_local.campaign.stories.arena import Arena
from firebolt_local.campaign.stories.operator_process import OperatorProcess, command_line
from firebolt_local.testing.ledger import Change, World
from firebolt_local.testing.namespaces import make_namespace
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Manifest, Ref, Resource

PATIENCE_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 0.1
QUIET_SECONDS: Final = 1.5
"""At rest nobody writes; whoever has more to do, and the processor for it, does it sooner than that."""
STUCK_SECONDS: Final = 5.0
"""The same where Kubernetes has something left to do, which it may never get done."""
_MOST_PATIENCE: Final = 3
"""Times the patience with somebody who gets on."""
MOST_ENDS: Final = 3
Problems = Callable[[World], list[str]]


@dataclass(slots=True)
class Place:
    arena: Arena
    namespace: str
    watchman: Watchman
    operators: list[OperatorProcess]  # one; two where leaders take turns
    base: Picture | None = None  # what is there between two cases
    patience_seconds: float = PATIENCE_SECONDS  # within which it must be where it would be without a fault
    ends: int = 0  # how often an operator ended by itself in this case

    @property
    def client(self) -> KubeClient:
        return self.arena.client

    @property
    def leader(self) -> int:
        """Which of the operators works."""
        return self.watchman.last_writer

    @property
    def operator(self) -> OperatorProcess:
        return self.operators[self.leader]

    @property
    def world(self) -> World:
        return self.arena.ledger.worlds[self.namespace]

    @property
    def changes(self) -> list[Change]:
        return self.arena.ledger.changes[self.namespace]

    def picture(self, *, without_generations: bool = False) -> Picture:
        return picture(self.world, Lens(self.namespace, without_generations))

    def forget(self) -> None:
        self.arena.ledger.forget(self.namespace)

    async def create(self, resource: Resource, name: str, spec: Manifest) -> None:
        metadata = {"name": name, "namespace": self.namespace}
        await self.client.create(
            {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec}
        )

    async def edit(self, resource: Resource, name: str, patch: Manifest) -> None:
        await self.client.merge_patch(Ref(resource, self.namespace, name), patch)

    async def delete(self, resource: Resource, name: str) -> None:
        ref = Ref(resource, self.namespace, name)
        found = await self.client.get(ref)
        if found is not None:
            await self.client.delete(ref, uid=found["metadata"]["uid"])

    async def until(self, problems: Problems, seconds: float) -> list[str]:
        """Those that are left; none as soon as there are none. Patience begins anew whenever something happens."""
        clock = asyncio.get_running_loop().time
        began_at, since, known = clock(), clock(), self._signs()
        looked_at, left = -1, list[str]()
        while True:
            if (now := self._signs()) != known:
                since, known = clock(), now
            # Only what has changed is worth a look: many places wait at the same time.
            if looked_at != len(self.changes):
                looked_at = len(self.changes)
                left = problems(self.world)
            if not left or clock() - since > seconds or clock() - began_at > _MOST_PATIENCE * seconds:
                return left
            if not self._is_operated():
                return [f"the operator ended by itself, {MOST_ENDS} times; {self.operator.log} says why"]
            await asyncio.sleep(LOOK_SECONDS)

    async def until_quiet(self, seconds: float, quiet_seconds: float = QUIET_SECONDS) -> bool:
        """Nothing changes for a while, nobody tries to, and nobody would if the machine had time for it."""
        clock = asyncio.get_running_loop().time
        ends_at, since, known, was_busy = clock() + seconds, clock(), self._signs(), False
        while clock() - since < quiet_seconds or (clock() - since < STUCK_SECONDS and unsettled(self.world)):
            if clock() > ends_at or not self._is_operated():
                return False
            await asyncio.sleep(LOOK_SECONDS)
            is_busy = any(each.is_busy for each in self.operators)
            # Busy at one look only is somebody who looks at the clock.
            if (now := self._signs()) != known or not self.watchman.is_idle or (is_busy and was_busy):
                since, known = clock(), now
            was_busy = is_busy
        return True

    def _is_operated(self) -> bool:
        """Whoever ends by itself is started again, as a kubelet would, but not for ever."""
        for each in self.operators:
            if not each.is_alive:
                self.ends += 1
                each.start()
        return self.ends < MOST_ENDS

    def _signs(self) -> tuple[int, int]:
        return len(self.changes), len(self.watchman.written_since(0.0))


@asynccontextmanager
async def open_place(
    arena: Arena, start: str, *, operators: int = 1, patience_seconds: float = PATIENCE_SECONDS
) -> AsyncGenerator[Place]:
    namespace = await asyncio.to_thread(make_namespace, arena.cluster.http, "campaign")
    place = Place(arena, namespace, Watchman(), [], patience_seconds=patience_seconds)
    async with AsyncExitStack() as stack:
        for number in range(operators):
            proxy = fault_proxy(arena.upstream, place.watchman, number)
            address = await stack.enter_async_context(listening(proxy, arena.tls))
            name = f"{namespace}-{number}"
            kubeconfig = arena.kubeconfig(name, address)
            command = command_line(start, kubeconfig=kubeconfig, namespace=namespace)
            operator = OperatorProcess(name, command, arena.cluster.folder, kubeconfig)
            place.operators.append(operator)
            operator.start()
            stack.callback(operator.kill)
        yield place
