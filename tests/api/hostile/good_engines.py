"""Twenty engines of people who mean no harm, and what they do with them."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED
from firebolt_operator.api.resources import FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.api.serialise import format_time, parse_engine
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.clock import SystemClock
from tests.api.engine.running import is_at_rest
from tests.api.hostile.traps import INSTANCE, manifest

COUNT: Final = 20
SECONDS: Final = 900.0  # a hang guard
POLICY: Final[Manifest] = {"enabled": True, "activeReplicas": 1, "pollInterval": "1s"}


@dataclass(frozen=True, slots=True)
class GoodEngines:
    client: KubeClient
    namespace: str

    @property
    def names(self) -> list[str]:
        return [f"eng-{number:02}" for number in range(COUNT)]

    async def make(self) -> None:
        spec: Manifest = {"metadata": {}, "gateway": {}}
        await self.client.create(manifest(FIREBOLT_INSTANCES, self.namespace, INSTANCE, spec=spec))
        for name in self.names:
            engine = {"instanceRef": INSTANCE, "replicas": 1}
            await self.client.create(manifest(FIREBOLT_ENGINES, self.namespace, name, spec=engine))

    async def until_ready(self) -> list[FireboltEngine]:
        return await self._until("at rest and ready", lambda engine: engine.status.phase == "stable")

    async def roll(self, label: str) -> None:
        """A new generation of each, and none left behind."""
        before = {engine.metadata.name: engine.status.active_generation for engine in await self.found()}
        await self._edit({"spec": {"template": {"metadata": {"labels": {"edited": label}}}}})
        await self._until(
            f"rolled for {label}", lambda engine: engine.status.active_generation > before[engine.metadata.name]
        )

    async def park(self) -> None:
        await self._edit({"spec": {"autoStop": POLICY | {"idleTimeout": "1s"}}})
        await self._until("parked", lambda engine: engine.status.phase == "stopped")

    async def wake(self) -> None:
        """As a gateway does it. Nobody queries them: without a longer time-out they would be parked again."""
        await self._edit({"spec": {"autoStop": {"idleTimeout": "1h"}}})
        await self._edit({"metadata": {"annotations": {ANNOTATION_WAKE_REQUESTED: format_time(SystemClock().now())}}})
        await self._until("awake", lambda engine: engine.status.phase == "stable")

    async def found(self) -> list[FireboltEngine]:
        scope = Scope(resource=FIREBOLT_ENGINES, namespace=self.namespace)
        return [parse_engine(each) for each in await self.client.list(scope) if each["metadata"]["name"] in self.names]

    async def _edit(self, patch: dict[str, Any]) -> None:
        for name in self.names:
            await self.client.merge_patch(Ref(FIREBOLT_ENGINES, self.namespace, name), patch)

    async def _until(self, what: str, wanted: Callable[[FireboltEngine], bool]) -> list[FireboltEngine]:
        engines = list[FireboltEngine]()
        try:
            async with asyncio.timeout(SECONDS):
                while True:
                    engines = await self.found()
                    if len(engines) == COUNT and all(is_at_rest(each) and wanted(each) for each in engines):
                        return engines
                    await asyncio.sleep(0.2)
        except TimeoutError as err:
            late = {each.metadata.name: each.status for each in engines if not (is_at_rest(each) and wanted(each))}
            raise AssertionError(f"not {what} within {SECONDS:g} s: {late}") from err
