"""The engine and the class controller as they run in the operator, on one namespace of a real API server."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from prometheus_client import CollectorRegistry

from firebolt_local.cluster.scrape import ScrapeControl
from firebolt_operator.api.conditions import Condition, find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.names import LABEL_GENERATION
from firebolt_operator.engine.observe.caches import EngineCaches, engine_caches
from firebolt_operator.engine.observe.scrape_lane import ScrapeLane
from firebolt_operator.engine.views import PodView
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.look_again import After, AtOnce, WhenChanged
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.policy.bounds import parse_bounds
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.controller import Controller, Outcome
from firebolt_operator.runtime.manager import Manager
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.work_queue import WorkQueue
from firebolt_operator.settings import parse_settings
from firebolt_operator.wiring.authentication import build_authentication
from firebolt_operator.wiring.controllers import _cluster_classes, _engine_controller
from firebolt_operator.wiring.encryption import build_encryption
from firebolt_operator.wiring.factory import ControllerFactory
from firebolt_operator.wiring.operate import KINDS
from firebolt_operator.wiring.shared import shared_controllers
from tests.api.engine.clock import SkippingClock

SECONDS = 60.0
ENGINE_IMAGE = "engine:1.0"
FLAGS = ("--metrics-bind-address=:0", "--drain-settle=0s", f"--engine-image={ENGINE_IMAGE}", "--ui-image=ui:1.0")
T = TypeVar("T")


class Requests:
    """Counts what the operator asks of the API server; a watch is told when it ends."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def request(self, method: str, code: str, seconds: float, resource: str, verb: str, /) -> None:
        del code, seconds, verb
        self.seen[f"{method} {resource}"] += 1


@dataclass(slots=True)
class Pass:
    """What one pass of one object came to; neither outcome nor error while it is under way."""

    name: str
    began_at: float
    ended_at: float = 0.0
    outcome: Outcome | None = None
    error: str = ""


@dataclass(slots=True)
class Worked:
    """One controller, and the passes it ran."""

    controller: Controller[Key]
    changed: asyncio.Event
    clock: SkippingClock
    passes: list[Pass] = field(default_factory=list[Pass])

    def of(self, name: str) -> list[Pass]:
        return [each for each in self.passes if each.name == name]

    def ended(self, name: str) -> list[Pass]:
        return [each for each in self.of(name) if each.ended_at]

    def watch_over(self) -> None:
        reconcile = self.controller.reconcile

        async def recorded(key: Key) -> Outcome:
            run = Pass(key[1], self.clock.monotonic())
            self.passes.append(run)
            try:
                run.outcome = await reconcile(key)
            except Exception as err:
                run.error = str(err)
                raise
            finally:
                run.ended_at = self.clock.monotonic()
                self.changed.set()
            return run.outcome

        self.controller.reconcile = recorded


@dataclass(slots=True, kw_only=True)
class Operator:
    namespace: str
    client: KubeClient
    caches: EngineCaches
    lane: ScrapeLane
    engines: Worked
    classes: Worked
    others: tuple[Controller[Key], ...]  # of presets, and of classes of the cluster
    requests: Requests
    clock: SkippingClock
    metrics: CollectorRegistry
    changed: asyncio.Event

    async def sees(self, look: Callable[[], T | None]) -> T:
        """The first answer that is there and true; every event and every pass is a reason to look."""
        try:
            async with asyncio.timeout(SECONDS):
                while not (found := look()):
                    self.changed.clear()
                    await self.changed.wait()
                return found
        except TimeoutError as err:
            raise AssertionError(f"not seen within {SECONDS:g} s; {self._how_it_is()}") from err

    def _how_it_is(self) -> str:
        engines = {engine.metadata.name: engine.status for engine in self.caches.engines.values()}
        return f"engines {engines}, last passes {self.engines.passes[-5:]}"

    def engine(self, name: str = "eng") -> FireboltEngine | None:
        return self.caches.engines.get((self.namespace, name))

    def engine_class(self, name: str) -> FireboltEngineClass | None:
        return self.caches.engine_classes.get((self.namespace, name))

    def selected_generation(self, name: str = "eng") -> str:
        """Where the operator believes that queries go."""
        service = self.caches.services.get((self.namespace, f"{name}-service"))
        return str(service.spec["selector"].get(LABEL_GENERATION, "")) if service else ""

    def pod(self, name: str) -> PodView:
        """As the operator knows it."""
        found = self.caches.pods.get((self.namespace, name))
        assert found is not None, f"the operator knows no pod {name}"
        return found

    async def until(self, wanted: Callable[[FireboltEngine], bool], name: str = "eng") -> FireboltEngine:
        def look() -> FireboltEngine | None:
            found = self.engine(name)
            return found if found is not None and wanted(found) else None

        return await self.sees(look)

    async def until_at_rest(self, generation: int | None = None, name: str = "eng") -> FireboltEngine:
        """Everything that was asked for so far is done; `generation` waits for what no spec asked for."""
        return await self.until(lambda engine: is_at_rest(engine, generation), name)

    async def until_done(self, edited: Manifest) -> FireboltEngine:
        """At rest with this edit, whether or not it took a new generation."""
        version = edited["metadata"]["generation"]
        return await self.until(
            lambda engine: engine.metadata.generation >= version and is_at_rest(engine), edited["metadata"]["name"]
        )

    async def until_class_seen(self, edited: Manifest) -> FireboltEngineClass:
        version = edited["metadata"]["generation"]
        return await self.until_class(
            edited["metadata"]["name"], lambda found: found.status.observed_generation >= version
        )

    async def until_attempt(self, number: int, name: str = "eng") -> FireboltEngine:
        """That generation is the latest one that was begun."""
        return await self.until(lambda engine: engine.status.current_generation == number, name)

    async def until_phase(self, phase: str, name: str = "eng") -> FireboltEngine:
        return await self.until(lambda engine: engine.status.phase == phase, name)

    async def until_reason(self, wanted: str, kind: str = "Ready", name: str = "eng") -> FireboltEngine:
        return await self.until(lambda engine: reason(engine, kind) == wanted, name)

    async def until_gone(self, name: str = "eng") -> None:
        await self.sees(lambda: self.engine(name) is None)

    async def stays_at_rest(self, generation: int, name: str = "eng") -> FireboltEngine:
        """Passes that find nothing to do ask nothing of the API server, and write nothing."""
        before = await self.until_at_rest(generation, name)
        await self.sees(self._are_classes_told)
        await self.settled()
        self.requests.seen.clear()
        for _ in range(2):
            run = await self.next_pass(name)
            assert (run.error, run.outcome and run.outcome.reason) == ("", "at rest")
        assert self.requests.seen == {}
        after = self.engine(name)
        assert after is not None
        assert after.status.current_generation == generation
        assert before.metadata.uid == after.metadata.uid
        return after

    def _are_classes_told(self) -> bool:
        """No class has a status to be written yet: such a write would be counted as the engine's."""
        if self.classes.controller.queue.is_closed:
            return True
        bound = Counter(engine.spec.engine_class_ref for engine in self.caches.engines.values() if engine.spec)
        return all(
            told.status.observed_generation == told.metadata.generation
            and told.status.bound_engines == bound[told.metadata.name]
            for told in self.caches.engine_classes.values()
        )

    async def until_class(self, name: str, wanted: Callable[[FireboltEngineClass], bool]) -> FireboltEngineClass:
        def look() -> FireboltEngineClass | None:
            found = self.engine_class(name)
            return found if found is not None and wanted(found) else None

        return await self.sees(look)

    async def next_pass(self, name: str = "eng") -> Pass:
        """What one more pass comes to, once all others are over; if it asks pods, the pass that hears their answer."""
        await self.settled()
        self._ask_anew(name)
        before = len(self.engines.ended(name))
        run = await self._run_pass(self.engines, name)
        if self._is_asking(name):
            await self.sees(lambda: not self._is_asking(name) and len(self.engines.ended(name)) > before + 1)
            return self.engines.ended(name)[-1]
        return run

    def _ask_anew(self, name: str) -> None:
        """As if the next question were due."""
        key, lane = (self.namespace, name), self.lane
        lane._turns.update({key: 0.0} if key in lane._turns else {})
        for topic, answers in lane._known.items():
            if topic.engine == key:
                lane._known[topic] = replace(answers, asked_at=answers.asked_at - timedelta(hours=1))

    def _is_asking(self, name: str) -> bool:
        return any(topic.engine == (self.namespace, name) for topic in self.lane._open)

    async def next_class_pass(self, name: str) -> Pass:
        await self.settled()
        return await self._run_pass(self.classes, name)

    async def _run_pass(self, worked: Worked, name: str) -> Pass:
        before = len(worked.ended(name))
        worked.controller.queue.add((self.namespace, name))
        await self.sees(lambda: len(worked.ended(name)) > before)
        return worked.ended(name)[before]

    async def settled(self) -> None:
        """No pass is under way, and none is about to begin."""
        async with asyncio.timeout(SECONDS):
            while self._is_busy():  # noqa: ASYNC110 - a queue tells nobody
                await asyncio.sleep(0.01)

    def _is_busy(self) -> bool:
        controllers = (self.engines.controller, self.classes.controller, *self.others)
        queues = [controller.queue for controller in controllers]
        return bool(self.lane._open) or any(_is_busy(queue) for queue in queues if not queue.is_closed)


def _is_busy(queue: WorkQueue[Key]) -> bool:
    """A pass that asked to go on at once waits for milliseconds; one that fails again and again may wait for ever."""
    is_hot = any(count < 8 for count in queue._failures.values())
    return is_hot or any(queue.depths().values()) or bool(queue.running_ages())


def is_at_rest(engine: FireboltEngine, generation: int | None = None) -> bool:
    status = engine.status
    if status.phase not in {"stable", "stopped"} or status.observed_generation != engine.metadata.generation:
        return False
    if generation is not None and status.active_generation != generation:
        return False
    if find_condition(status.conditions, "Reconciling") is not None:
        return False
    return reason(engine) == ("EngineReady" if status.phase == "stable" else "Stopped")


def condition(engine: FireboltEngine | FireboltEngineClass, kind: str = "Ready") -> Condition:
    found = find_condition(engine.status.conditions, kind)
    assert found is not None, f"no condition {kind} on {engine.metadata.name}"
    return found


def reason(engine: FireboltEngine, kind: str = "Ready") -> str:
    found = find_condition(engine.status.conditions, kind)
    return found.reason if found else ""


def message(engine: FireboltEngine, kind: str = "Ready") -> str:
    found = find_condition(engine.status.conditions, kind)
    return found.message if found else ""


def look_again(run: Pass) -> timedelta | str:
    """When the next pass is due: after a while, "at once", or "backoff" after an error."""
    if run.outcome is None:
        return "backoff"
    match run.outcome.look_again:
        case AtOnce():
            return "at once"
        case After(wait):
            return wait
        case WhenChanged():
            return "never"


async def until_scraped(scrape: ScrapeControl, before: dict[str, int] | None = None) -> None:
    """Some pod is being asked for its metrics."""
    async with asyncio.timeout(SECONDS):
        while scrape.requests() == (before or {}):  # noqa: ASYNC110 - a pod tells nobody
            await asyncio.sleep(0.01)


@asynccontextmanager
async def running_operator(kubeconfig: Path, namespace: str, *flags: str) -> AsyncGenerator[Operator]:
    """`flags` as on the command line, after those that suit tests."""
    requests, clock, metrics = Requests(), SkippingClock(), Metrics()
    settings = parse_settings([*FLAGS, f"--namespaces={namespace}", *flags], {})
    bounds = parse_bounds(
        cpu=settings.engine_max_cpu,
        memory=settings.engine_max_memory,
        ephemeral_storage=settings.engine_max_ephemeral_storage,
        replicas=settings.engine_max_replicas,
    )
    credentials = load_credentials(str(kubeconfig), {})
    async with KubeClient.from_credentials(credentials, recorder=requests, kinds=KINDS) as client:
        factory = ControllerFactory(
            settings=settings, bounds=bounds, client=client, clock=clock, metrics=metrics, identity="test"
        )
        caches = engine_caches(settings.namespaces, settings.watch_label_selector)
        authentication, changed = build_authentication(factory, caches), asyncio.Event()
        encryption = build_encryption(factory, caches)
        lane, engines = _engine_controller(factory, caches, authentication, encryption)
        shared = shared_controllers(factory, caches)
        operator = Operator(
            namespace=namespace,
            client=client,
            caches=caches,
            lane=lane,
            engines=Worked(engines, changed, clock),
            classes=Worked(shared[0], changed, clock),
            others=shared[1:],
            requests=requests,
            clock=clock,
            metrics=metrics.registry,
            changed=changed,
        )
        async with _run(factory, operator):
            yield operator
    # TLS connections say goodbye before they close, and nothing tells when they have.
    await asyncio.sleep(0.2)


@asynccontextmanager
async def _run(factory: ControllerFactory, operator: Operator) -> AsyncGenerator[None]:
    informers = [factory.informer(cache) for cache in operator.caches.all()]
    for informer in informers:
        informer.cache.subscribe(lambda _old, _new: operator.changed.set())
    works = (operator.engines, operator.classes)
    for worked in works:
        worked.watch_over()
    controllers = [*(worked.controller for worked in works), *operator.others]
    of_cluster = _cluster_classes(factory, operator.caches)
    manager = Manager(informers=informers, services=[operator.lane, of_cluster], controllers=controllers)
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(manager.run_until(stop), name="manager")
        try:
            for informer in informers:
                await asyncio.wait_for(informer.synced.wait(), SECONDS)
            yield
        finally:
            stop.set()
            assert await running == 0, "the operator did not stop in order"
