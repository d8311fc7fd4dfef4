"""What is done in the demo, in which order, and when is each step there?"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from firebolt_local.demo.secured import NO_DOOR, Door, Secured
from firebolt_local.demo.timeline import Timeline
from firebolt_local.testing.convergence import is_at_rest, is_ready
from firebolt_local.testing.faults import StepFailedError
from firebolt_local.testing.load import Load, ask_for_body, client_session, steady_load, tokens_of
from firebolt_operator.api.names import gateway_name
from firebolt_operator.api.resources import FIREBOLT_ENGINES, SERVICES
from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Manifest, Ref
from kubectl_firebolt.picture.answers import Answer, spoken, totals
from kubectl_firebolt.picture.recorder import OpenStep, Recorder

NAMESPACE: Final = "default"
INSTANCE: Final = "demo"
ENGINE: Final = Ref(FIREBOLT_ENGINES, NAMESPACE, "analytics")
QUERY: Final = "SELECT count(*) AS numbers, sum(i) AS total FROM range(1, 101) AS t(i)"
PER_SECOND: Final = 60
_LOOK: Final = timedelta(seconds=6)  # of plain load, before and after
_PAUSE: Final = timedelta(seconds=2)  # so that the picture shows one thing after the other
_TICK_SECONDS: Final = 5.0
_PARKING: Final = {"enabled": True, "activeReplicas": 2, "idleTimeout": "10s", "pollInterval": "2s"}
_AFTERWARDS: Final = {"enabled": True, "activeReplicas": 2, "idleTimeout": "30m", "pollInterval": "1m"}


@dataclass(slots=True)
class Story:
    client: KubeClient
    recorder: Recorder
    timeline: Timeline
    clock: Callable[[], float]
    next_image: str
    manifests: list[Manifest]  # an instance, then an engine
    secured: Secured | None = None  # with it everything goes through TLS, with a login
    door: Door = NO_DOOR
    woken_after: float | None = None  # seconds; None: it did not come that far
    _loads: list[Load] = field(default_factory=list[Load])
    _alone: list[Answer] = field(default_factory=list[Answer])
    _steps: int = 0

    async def run(self) -> None:
        await self._make_instance()
        await self._make_engine()
        await self._ask_once()
        async with self._load() as load:
            await self._look(load, "load", f"{PER_SECOND} queries per second from here on")
            await self._change(load, "scale to 3", "Three nodes instead of two, under load", {"replicas": 3})
            await self._change(load, "new image", "Another image, under load", {"template": self._template()})
        await self._park()
        await self._wake()
        async with self._load() as load:
            await self._look(load, "load", "Business as usual")
        await self._patch({"autoStop": _AFTERWARDS})

    @property
    def answers(self) -> list[Answer]:
        return self._alone + [answer for load in self._loads for answer in load.answers]

    @contextmanager
    def _step(self, name: str, title: str, limit: timedelta) -> Generator[OpenStep]:
        self._steps += 1
        print(f"==> {self._steps}. {title}", flush=True)
        with self.recorder.step(name, title) as step:
            try:
                yield step
            except TimeoutError as err:
                raise StepFailedError(name, f"not done within {limit.total_seconds():g} s") from err
            except OperatorError as err:
                raise StepFailedError(name, str(err)) from err
        print(f"    {step.outcome}", flush=True)

    async def _make_instance(self) -> None:
        limit = timedelta(minutes=3)
        with self._step("instance", "An instance: PostgreSQL, metadata service, gateway", limit) as step:
            began_at = self.clock()
            async with asyncio.timeout(limit.total_seconds()):
                await self._apply_instance(self.manifests[0])
                await self.timeline.until_instance(INSTANCE, is_ready)
                self.door = await self._gateway_door()
            step.outcome = f"Ready after {self.clock() - began_at:.1f} s."

    async def _make_engine(self) -> None:
        limit = timedelta(minutes=2)
        with self._step("engine", "An engine of two nodes", limit) as step:
            began_at = self.clock()
            async with asyncio.timeout(limit.total_seconds()):
                await self.client.apply(self.manifests[1])
                await self.timeline.until(ENGINE.name, is_at_rest(2))
            step.outcome = f"Ready after {self.clock() - began_at:.1f} s."

    async def _ask_once(self) -> None:
        with self._step("query", "A query through the gateway", timedelta(minutes=1)) as step:
            answer, body = await self._ask("query", QUERY)
            rows = json.loads(body)["data"]
            step.outcome = f"{QUERY} answered {rows[0]} in {spoken(answer.seconds)}."
            await asyncio.sleep(_PAUSE.total_seconds())

    async def _look(self, load: Load, name: str, title: str) -> None:
        with self._step(name, title, _LOOK) as step:
            before = len(load.answers)
            await asyncio.sleep(_LOOK.total_seconds())
            step.outcome = f"{totals(load.answers[before:])}."

    async def _change(self, load: Load, name: str, title: str, spec: Manifest) -> None:
        limit = timedelta(minutes=2)
        with self._step(name, title, limit) as step:
            before = len(load.answers)
            async with asyncio.timeout(limit.total_seconds()):
                edited = await self._patch(spec)
                await self.timeline.until(ENGINE.name, is_at_rest(3, since=edited))
            await asyncio.sleep(_PAUSE.total_seconds())
            step.outcome = f"{totals(load.answers[before:])}."

    async def _park(self) -> None:
        limit = timedelta(minutes=2)
        title = f"Nobody asks any more, and auto-stop may park the engine after {_PARKING['idleTimeout']}"
        with self._step("park", title, limit) as step:
            began_at = self.clock()
            async with asyncio.timeout(limit.total_seconds()):
                edited = await self._patch({"autoStop": _PARKING})
                await self.timeline.until(ENGINE.name, is_at_rest(0, since=edited))
            step.outcome = f"Parked {self.clock() - began_at:.1f} s after the last query: no pods are left."

    async def _wake(self) -> None:
        limit = timedelta(minutes=2)
        with self._step("wake", "One query for the parked engine", limit) as step:
            self.recorder.note("a query arrives, and is held")
            answer, _ = await self._ask("wake", QUERY)
            self.recorder.note("it is answered")
            self.woken_after = answer.seconds
            async with asyncio.timeout(limit.total_seconds()):
                await self.timeline.until(ENGINE.name, is_at_rest(2))
            step.outcome = f"Held by the gateway, and answered after {spoken(answer.seconds)}."
            await asyncio.sleep(_PAUSE.total_seconds())

    async def _ask(self, step: str, sql: str) -> tuple[Answer, bytes]:
        plan = self.door.plan(ENGINE.name, sql=sql, timeout=timedelta(seconds=110))
        async with client_session(plan) as session:
            tokens = tokens_of(plan, session, self.clock)
            answer, body = await ask_for_body(session, plan, clock=self.clock, tokens=tokens)
        self._alone.append(answer)
        if not answer.is_good:
            raise StepFailedError(step, f"the query was answered with {answer.problem}")
        return answer, body

    @asynccontextmanager
    async def _load(self) -> AsyncGenerator[Load]:
        plan = self.door.plan(ENGINE.name, sql=QUERY, per_second=PER_SECOND)
        async with steady_load(plan, self.clock) as load, asyncio.TaskGroup() as group:
            self._loads.append(load)
            ticker = group.create_task(self._tick(load), name="ticker")
            yield load
            ticker.cancel()

    async def _tick(self, load: Load) -> None:
        before = 0
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            fresh, before = load.answers[before:], len(load.answers)
            self.timeline.tell("queries", f"   {totals(fresh)}")

    async def _patch(self, spec: Manifest) -> int:
        """Answers which edit of the engine this is."""
        stored = await self.client.merge_patch(ENGINE, {"spec": spec})
        edited: int = stored["metadata"]["generation"]
        return edited

    def _template(self) -> Manifest:
        return {"spec": {"containers": [{"name": "engine", "image": self.next_image}]}}

    async def _apply_instance(self, instance: Manifest) -> None:
        if self.secured is None:
            await self.client.apply(instance)
            return
        for manifest in (*self.secured.prerequisites(NAMESPACE), self.secured.asked_for(instance)):
            await self.client.apply(manifest)

    async def _gateway_door(self) -> Door:
        service = await self.client.get(Ref(SERVICES, NAMESPACE, gateway_name(INSTANCE)))
        if service is None:
            raise StepFailedError("instance", "it is ready, but its gateway has no Service")
        address, port = service["spec"]["clusterIP"], service["spec"]["ports"][0]["port"]
        if self.secured is None:
            return Door(f"http://{address}:{port}/", address)
        return await self.secured.door(self.client, NAMESPACE, INSTANCE, address, port)
