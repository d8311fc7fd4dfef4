"""Does anybody wait for pods that never answer? Only those who ask them."""

import asyncio
from dataclasses import dataclass, field

import pytest

from firebolt_operator.api.names import LABEL_GENERATION
from firebolt_operator.api.resources import SERVICES
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.engine.observe import scrape
from firebolt_operator.engine.observe.scrape_lane import PLACES
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.controller import Controller, ControllerSettings
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.work_queue import WorkQueue
from tests.support.manual_clock import ManualClock
from tests.support.one_engine import MemoryApi, OneEngine
from tests.support.recorders import PassNotes, QueueNotes

ENGINES, NAMESPACES, WORKERS = 200, 20, 16
POLICY: Manifest = {"enabled": True, "activeReplicas": 2, "pollInterval": "1s"}
TEMPLATE: Manifest = {"metadata": {"labels": {"edited": "yes"}}}


@dataclass
class Darkness(MemoryApi):
    """Pods of dark namespaces never answer, once it has fallen."""

    has_fallen: bool = False
    hanging: int = 0
    ended: int = 0
    never: asyncio.Event = field(default_factory=asyncio.Event)

    async def pod_proxy_get(self, pod: Ref, port: int, path: str, /, **how: object) -> bytes:
        if not self.has_fallen or not pod.namespace.startswith("dark"):
            return await super().pod_proxy_get(pod, port, path, **how)
        self.hanging += 1
        try:
            await self.never.wait()
        finally:
            self.ended += 1
        return b""


def selected(one: OneEngine) -> str:
    service = one.api.objects[Ref(SERVICES, one.namespace, f"{one.name}-service")]
    return str(service["spec"]["selector"][LABEL_GENERATION])


async def test_given_hundreds_of_engines_whose_pods_never_answer_then_another_one_is_promoted_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not one of them has been given up by then, so nobody can have waited for one."""
    monkeypatch.setattr(scrape, "TOTAL_SECONDS", 600.0)
    clock = ManualClock()
    queue: WorkQueue[Key] = WorkQueue(clock, QueueNotes(), group_of=lambda key: key[0])
    healthy = OneEngine(clock=clock, answered=queue.add)
    healthy.lane.places.engines = PLACES
    api = Darkness(healthy.caches)
    healthy.api = healthy.lane.reader = api  # type: ignore[assignment]
    reconcile = EngineReconciler(healthy.dependencies()).reconcile
    await healthy.come_to_rest(reconcile)
    dark = [healthy.beside(f"e{number}", f"dark-{number % NAMESPACES}") for number in range(ENGINES)]
    for one in dark:
        await one.come_to_rest(reconcile, autoStop=POLICY)
    settings = ControllerSettings[Key](name="engines", describe=lambda _key: {}, workers=WORKERS)
    controller = Controller(settings, reconcile, queue, PassNotes(), clock)
    api.has_fallen = True
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(controller.run()), group.create_task(healthy.lane.run())]
        clock.elapsed += 1  # the turn of each
        for one in dark:
            queue.add(one.key)
        while api.hanging < PLACES or any(queue.depths().values()) or queue.running_ages():  # noqa: ASYNC110
            await asyncio.sleep(0)
        before = api.hanging
        healthy.edit(template=TEMPLATE)
        while selected(healthy) != "1":
            healthy.make_pods()
            queue.add(healthy.key)
            await asyncio.sleep(0)
        assert (api.ended, api.hanging >= before) == (0, True)
        for task in running:
            task.cancel()
