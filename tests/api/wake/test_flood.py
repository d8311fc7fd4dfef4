"""Thousands of names that clients make up: are engines woken all the same, and is the API server left in peace?"""

import asyncio
from collections import Counter
from itertools import count

import pytest

from firebolt_operator.wake.decide.wake_books import STRANGERS_BURST, STRANGERS_PER_SECOND
from tests.api.wake.place import Place
from tests.api.wake.running import Asked, an_agent, eventually, stamps

CLIENTS = 100
NAMES = 3000


@pytest.fixture
async def gateway(place: Place) -> str:
    await place.make_instance()
    return await place.make_gateway_account()


class Flood:
    """Every answer is followed by a question for another name, until enough were asked for and the test is done."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._names = count()
        self.decisions = Counter[str]()
        self.is_over = False

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(self._ask())

    async def _ask(self) -> None:
        while not self.is_over:
            self.decisions[(await self._asked.hold(f"junk-{next(self._names)}")).decision] += 1

    async def until(self, answers: int) -> None:
        async def has_asked() -> bool:
            return self.decisions.total() >= answers

        await eventually(has_asked, f"{answers} made-up names were answered")


async def test_given_a_flood_of_made_up_names_when_a_parked_engine_is_asked_for_then_it_is_held_and_stamped(
    place: Place, gateway: str
) -> None:
    await place.make_bare_engine("parked")
    await place.make_service("parked")
    await place.point("up", "10.0.0.1")
    await eventually(lambda: _has_slice(place, "parked"), "the Service has its EndpointSlice")
    began_at = asyncio.get_running_loop().time()
    async with an_agent(place.kubeconfig_of(gateway), place.namespace) as asked, asyncio.TaskGroup() as group:
        flood = Flood(asked)
        flooding = group.create_task(flood.run())
        await flood.until(NAMES)
        held = group.create_task(asked.hold("parked"))
        await eventually(lambda: _is_stamped(place, "parked"), "parked is stamped")
        assert not held.done()
        assert (await asked.hold("up")).decision == "ready"
        flood.is_over = True
        await flooding
        held.cancel()
        seconds = asyncio.get_running_loop().time() - began_at
        assert await asked.metric(stamps("missing")) <= STRANGERS_BURST + seconds * STRANGERS_PER_SECOND
    assert flood.decisions.keys() == {"missing", "shed"}
    print(f"{flood.decisions} in {seconds:.1f} s")


async def test_given_an_engine_without_a_service_when_asked_for_then_it_is_stamped_once_all_the_same(
    place: Place, gateway: str
) -> None:
    await place.make_bare_engine("new")
    async with an_agent(place.kubeconfig_of(gateway), place.namespace) as asked, asyncio.TaskGroup() as group:
        held = [group.create_task(asked.hold("new")) for _ in range(20)]
        await eventually(lambda: _is_stamped(place, "new"), "new is stamped")
        assert not any(task.done() for task in held)
        for task in held:
            task.cancel()
    assert place.patches_by(gateway, "new") == [200]


async def _is_stamped(place: Place, engine: str) -> bool:
    return bool(await place.stamp_of(engine))


async def _has_slice(place: Place, engine: str) -> bool:
    path = f"/apis/discovery.k8s.io/v1/namespaces/{place.namespace}/endpointslices"
    labels = (item["metadata"].get("labels", {}) for item in place.plane.http.get(path)["items"])
    return any(each.get("kubernetes.io/service-name") == f"{engine}-service" for each in labels)
