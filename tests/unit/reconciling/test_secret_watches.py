"""Who gets one of the watches, when there are not enough for all?"""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from firebolt_operator.api.resources import SECRETS
from firebolt_operator.instance.views import SecretView, decode_secret
from firebolt_operator.reconciling import secret_watches
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.objects import Key
from tests.support.manual_clock import ManualClock, idle
from tests.unit.runtime.memory_reader import MemoryReader

MOST = 4


@pytest.fixture(autouse=True)
def few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_watches, "MOST_WATCHES", MOST)


@asynccontextmanager
async def running(told: list[Key]) -> AsyncGenerator[SecretWatches[SecretView]]:
    following = Following(reader=MemoryReader(), clock=ManualClock(), rng=random.Random(1))
    found = SecretWatches("referenced secrets", decode_secret, following, told.append)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(found.run(), name="watches")
        yield found
        task.cancel()


def a_secret(namespace: str, number: int = 0) -> Ref:
    return Ref(SECRETS, namespace, f"s{number}")


def crowd(found: SecretWatches[SecretView], namespace: str, count: int) -> None:
    for number in range(count):
        found.want((namespace, f"i{number}"), a_secret(namespace, number))


async def followed(found: SecretWatches[SecretView], namespace: str) -> list[int]:
    await idle()
    return [number for number in range(10) if found.is_following(a_secret(namespace, number))]


async def test_given_a_crowd_of_one_namespace_then_others_get_their_share_of_the_places() -> None:
    told = list[Key]()
    async with running(told) as found:
        crowd(found, "tenant", 10)
        assert await followed(found, "tenant") == [0, 1, 2, 3]
        crowd(found, "good", 1)
        assert await followed(found, "good") == [0]
        assert await followed(found, "tenant") == [0, 1, 2]
        assert told == [("tenant", "i3")]  # it has to look for itself from now on


async def test_given_two_secrets_of_one_instance_then_both_are_followed_until_it_wants_another() -> None:
    async with running([]) as found:
        found.want(("good", "i0"), a_secret("good", 0), a_secret("good", 1))
        assert await followed(found, "good") == [0, 1]
        found.want(("good", "i0"), a_secret("good", 1))
        assert await followed(found, "good") == [1]


async def test_given_places_that_become_free_then_those_who_had_none_get_them_without_asking_again() -> None:
    async with running([]) as found:
        crowd(found, "tenant", 1)
        crowd(found, "good", 6)
        assert await followed(found, "good") == [0, 1, 2]
        found.forget(("tenant", "i0"))
        assert await followed(found, "good") == [0, 1, 2, 3]


async def test_given_more_namespaces_than_places_then_nobody_is_sent_away_for_a_newcomer() -> None:
    told = list[Key]()
    async with running(told) as found:
        for number in range(MOST + 2):
            found.want((f"ns-{number}", "i0"), a_secret(f"ns-{number}"))
        places = [await followed(found, f"ns-{number}") for number in range(MOST + 2)]
        assert places == [[0]] * MOST + [[]] * 2
        assert told == []
        found.forget(("ns-1", "i0"))
        assert await followed(found, f"ns-{MOST}") == [0]
