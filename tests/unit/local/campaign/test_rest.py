"""When is a place at rest, and how long is it waited for? Silence alone is no sign: a busy machine is silent, too."""

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from firebolt_local.campaign.proxy.recording import Watchman
from firebolt_local.campaign.stories.place import Place
from firebolt_local.testing.ledger import Ledger
from firebolt_operator.api.resources import CONFIG_MAPS

if TYPE_CHECKING:
    from firebolt_local.campaign.stories.arena import Arena

QUIET_SECONDS = 0.3


def a_place() -> Place:
    """Without an operator; the proxy knows of one that watches."""
    arena = cast("Arena", SimpleNamespace(ledger=Ledger()))
    return Place(arena, "shop", Watchman(watches=1), [])


def a_change(place: Place, version: int, **metadata: str) -> None:
    known = {"name": "c", "namespace": "shop", "uid": "u", "resourceVersion": str(version)}
    place.arena.ledger.record(CONFIG_MAPS, {"metadata": known | metadata})


async def test_nothing_happens_and_everything_is_known() -> None:
    assert await a_place().until_quiet(2, QUIET_SECONDS)


@pytest.mark.parametrize(
    "watchman",
    [
        pytest.param(Watchman(), id="nobody-looks"),
        pytest.param(Watchman(watches=1, under_way=1), id="a-request-is-not-answered"),
        pytest.param(Watchman(watches=1, held=1), id="an-event-is-not-delivered"),
    ],
)
async def test_silence_is_no_rest_while(watchman: Watchman) -> None:
    place = a_place()
    place.watchman = watchman
    assert not await place.until_quiet(1, QUIET_SECONDS)


async def test_what_kubernetes_has_not_done_yet_is_waited_for() -> None:
    place = a_place()
    a_change(place, 1, deletionTimestamp="now")
    assert not await place.until_quiet(1, QUIET_SECONDS)


async def test_whoever_gets_on_is_given_more_time() -> None:
    place = a_place()

    async def get_on() -> None:
        for version in range(8):
            await asyncio.sleep(0.1)
            a_change(place, version)

    async with asyncio.TaskGroup() as group:
        group.create_task(get_on())
        left = await place.until(lambda _: [] if len(place.changes) == 8 else ["not there"], 0.4)
    assert left == []


async def test_but_not_for_ever() -> None:
    place = a_place()

    async def go_round() -> None:
        for version in range(10_000):
            await asyncio.sleep(0.05)
            a_change(place, version)

    async with asyncio.TaskGroup() as group:
        going = group.create_task(go_round())
        assert await place.until(lambda _: ["not there"], 0.3) == ["not there"]
        going.cancel()
