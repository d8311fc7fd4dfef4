"""What does a test do on the cluster? It makes engines, edits them, queries them, and waits for what it is told."""

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from firebolt_local.images.standin_images import ENGINE_NEXT
from firebolt_local.testing import faults
from firebolt_local.testing.convergence import is_at_rest
from firebolt_local.testing.load import Load, Plan, ask, client_session, steady_load, tokens_of
from firebolt_operator.api.conditions import Condition, find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import CONDITION_READY
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Manifest, Ref, Resource
from kubectl_firebolt.picture.answers import Answer
from tests.e2e.counts import LATEST_SECONDS, LEAST_SHARE, Count, cut_over
from tests.e2e.environment import INSTANCE, NAMESPACE, Environment
from tests.e2e.informer import Informer

PER_SECOND = 60.0
SECONDS = 180.0
NEXT_IMAGE: Manifest = {"spec": {"containers": [{"name": "engine", "image": ENGINE_NEXT}]}}


@dataclass(slots=True)
class Scenario:
    environment: Environment
    client: KubeClient
    informer: Informer
    test: str
    counts: list[Count]
    namespace: str = NAMESPACE
    instance: str = INSTANCE
    per_second: float = PER_SECOND
    _made: list[Ref] = field(default_factory=list[Ref])

    async def make_engine(self, name: str, *, replicas: int = 2, **spec: Any) -> None:
        await self.make(FIREBOLT_ENGINES, name, {"instanceRef": self.instance, "replicas": replicas, **spec})

    async def make_resting_engine(self, name: str, *, replicas: int = 2, **spec: Any) -> None:
        await self.make_engine(name, replicas=replicas, **spec)
        await self.at_rest(name, replicas)

    async def make_class(self, name: str, template: Manifest) -> None:
        await self.make(FIREBOLT_ENGINE_CLASSES, name, {"template": template})

    async def make(self, resource: Resource, name: str, spec: Manifest) -> None:
        metadata = {"name": name, "namespace": self.namespace}
        ref = self.ref(resource, name)
        if ref not in self._made:
            self._made.append(ref)
        await self.client.create(
            {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec}
        )

    async def edit(self, engine: str, **spec: Any) -> int:
        """Answers which edit this is, for `at_rest`."""
        stored = await self.client.merge_patch(self.ref(FIREBOLT_ENGINES, engine), {"spec": spec})
        edited: int = stored["metadata"]["generation"]
        return edited

    async def delete(self, ref: Ref) -> None:
        found = await self.client.get(ref)
        if found is not None:
            await self.client.delete(ref, uid=found["metadata"]["uid"])

    async def at_rest(self, engine: str, replicas: int, *, since: int = 0) -> FireboltEngine:
        rests = is_at_rest(replicas, since=since)

        def is_there() -> bool:
            found = self.informer.engine(engine)
            return found is not None and rests(found)

        await self.until(is_there, f"{engine} at rest with {replicas} pods")
        return self.engine(engine)

    async def until(self, is_there: Callable[[], bool], what: str, *, seconds: float = SECONDS) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.informer.until(is_there)
        except TimeoutError as err:
            lines = await faults.observed(self.client, (self.namespace, "firebolt-system"))
            raise AssertionError("\n".join([f"not within {seconds:g} s: {what}", *lines])) from err

    def engine(self, name: str) -> FireboltEngine:
        found = self.informer.engine(name)
        assert found is not None, f"there is no engine {name}"
        return found

    def ready(self, engine: str) -> Condition:
        found = find_condition(self.engine(engine).status.conditions, CONDITION_READY)
        assert found is not None, f"{engine} has no condition Ready"
        return found

    @asynccontextmanager
    async def load(self, engine: str, *, sql: str = "SELECT 1", may_fail: bool = False) -> AsyncGenerator[Load]:
        """Queries all the while; the test fails if one of them does, or if an old generation still got one too late."""
        began_at, first_switch = time.monotonic(), len(self.informer.switches)
        async with steady_load(self.plan(engine, sql=sql, per_second=self.per_second)) as load:
            yield load
        switches = [switch for switch in self.informer.switches[first_switch:] if switch.engine == engine]
        count = Count(
            test=self.test,
            engine=engine,
            seconds=max(answer.due_at for answer in load.answers) - began_at,
            answers=tuple(load.answers),
            cut_over=cut_over(load.answers, switches),
        )
        self.counts.append(count)
        assert count.per_second >= LEAST_SHARE * self.per_second, count
        assert may_fail or not count.problems, f"{count}: {count.problems[:5]}"
        assert count.cut_over is None or count.cut_over <= LATEST_SECONDS, count

    async def ask(self, engine: str, sql: str = "SELECT 1", *, within: timedelta = timedelta(minutes=2)) -> Answer:
        plan = self.plan(engine, sql=sql, timeout=within)
        async with client_session(plan) as session:
            tokens = tokens_of(plan, session, time.monotonic)
            return await ask(session, plan, clock=time.monotonic, tokens=tokens)

    def plan(self, engine: str, **fields: Any) -> Plan:
        return Plan(url=self.environment.gateway(self.namespace, self.instance), engine=engine, **fields)

    async def kubectl(self, *words: str, stdin: str | None = None) -> str:
        return await asyncio.to_thread(self.environment.kubectl, f"--namespace={self.namespace}", *words, stdin=stdin)

    async def kubectl_json(self, *words: str) -> Manifest:
        found: Manifest = json.loads(await self.kubectl(*words, "--output=json"))
        return found

    def ref(self, resource: Resource, name: str) -> Ref:
        return Ref(resource, self.namespace, name)

    async def leave(self) -> None:
        """Engines before the classes that they use, which nobody may delete as long as there are any."""
        engines = [ref for ref in self._made if ref.resource == FIREBOLT_ENGINES]
        for ref in engines:
            await self.delete(ref)
        await self.until(lambda: not any(self.informer.get(*_key(ref)) for ref in engines), "engines to be gone")
        for ref in self._made:
            await self.delete(ref)


def _key(ref: Ref) -> tuple[Resource, str]:
    return ref.resource, ref.name


async def output(*command: str, seconds: float = 120) -> str:
    """What a program prints; its failure is the test's."""

    def run() -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}"
        return done.stdout

    return await asyncio.to_thread(run)
