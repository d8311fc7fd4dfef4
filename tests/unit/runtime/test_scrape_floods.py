"""Do strangers with made-up tokens keep Prometheus waiting, or the API server busy?"""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from firebolt_operator.kube.reviews import AccessQuestion, AccessVerdict, TokenOwner, TokenVerdict
from firebolt_operator.runtime.review_budget import MOST_ADDRESSES, ReviewBudget
from firebolt_operator.runtime.scrape_access import REVIEWS_AT_ONCE, ScrapeAccess
from tests.support.manual_clock import ManualClock, idle

STRANGER, FRIEND = "10.0.0.1", "10.0.0.2"


@dataclass
class SlowReviews:
    """Answers when it is told to."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    tokens: list[str] = field(default_factory=list[str])

    async def token(self, token: str) -> TokenVerdict:
        self.tokens.append(token)
        await self.go.wait()
        return TokenVerdict(is_authenticated=token.startswith("good"), owner=TokenOwner(token, "1", ()))

    async def access(self, question: AccessQuestion) -> AccessVerdict:
        assert question.owner.username.startswith("good")
        await self.go.wait()
        return AccessVerdict(is_allowed=True)


@dataclass
class Place:
    group: asyncio.TaskGroup
    clock: ManualClock = field(default_factory=ManualClock)
    reviews: SlowReviews = field(default_factory=SlowReviews)

    def __post_init__(self) -> None:
        self._access = ScrapeAccess(self.reviews, self.clock, random.Random(1))

    async def status(self, token: str, address: str = STRANGER) -> int:
        request = make_mocked_request("GET", "/metrics", {"Authorization": f"Bearer {token}"}).clone(remote=address)
        try:
            await self._access.check(request)
        except web.HTTPException as answer:
            return answer.status
        return 200

    async def asked(self, *tokens: str, address: str = STRANGER) -> list[asyncio.Task[int]]:
        """Under way, as far as they get."""
        tasks = [self.group.create_task(self.status(token, address), name=token) for token in tokens]
        await idle()
        return tasks


@asynccontextmanager
async def a_place() -> AsyncGenerator[Place]:
    async with asyncio.TaskGroup() as group:
        here = Place(group)
        here.reviews.go.set()
        try:
            yield here
        finally:
            here.reviews.go.set()


async def test_given_strangers_under_review_then_a_remembered_scrape_is_answered_at_once() -> None:
    async with a_place() as place:
        assert await place.status("good", FRIEND) == 200
        place.reviews.go.clear()
        for number in range(40):
            await place.asked(f"bad{number}", address=f"10.1.0.{number}")
        [scrape] = await place.asked("good", address=FRIEND)
        assert scrape.done()
        assert scrape.result() == 200


async def test_given_five_hundred_tokens_of_one_address_then_few_are_reviewed_and_others_are_not_kept_out() -> None:
    async with a_place() as place:
        statuses = [await place.status(f"bad{number}") for number in range(500)]
        assert (statuses.count(401), statuses.count(429), len(place.reviews.tokens)) == (5, 495, 5)
        assert await place.status("good", FRIEND) == 200
        await place.clock.advance(10)
        assert [await place.status(f"new{number}") for number in range(6)] == [401] * 5 + [429]


async def test_given_a_flood_of_many_addresses_then_a_token_that_was_good_is_reviewed_again() -> None:
    async with a_place() as place:
        assert await place.status("good", FRIEND) == 200
        for minute in range(3):
            await place.clock.advance(61)
            flood = [await place.status(f"bad{minute}.{number}", f"10.1.0.{number}") for number in range(100)]
            assert flood.count(401) == 20
            assert await place.status("good", FRIEND) == 200
        assert place.reviews.tokens.count("good") == 4


async def test_given_slow_reviews_then_strangers_are_turned_away_instead_of_heaped_up() -> None:
    async with a_place() as place:
        place.reviews.go.clear()
        for number in range(20):
            await place.asked(f"bad{number}", address=f"10.1.0.{number}")
        assert len(place.reviews.tokens) == REVIEWS_AT_ONCE
        assert await place.status("good", FRIEND) == 429
        place.reviews.go.set()
        await idle()
        assert await place.status("good", FRIEND) == 200


async def test_given_many_scrapes_with_one_token_then_it_is_reviewed_a_few_times_at_most() -> None:
    async with a_place() as place:
        assert await place.status("good", FRIEND) == 200
        await place.clock.advance(61)
        place.reviews.go.clear()
        scrapes = await place.asked(*["good"] * 100, address=FRIEND)
        place.reviews.go.set()
        assert {await scrape for scrape in scrapes} == {200}
        assert len(place.reviews.tokens) <= 1 + REVIEWS_AT_ONCE


async def test_given_a_refused_token_then_it_is_not_reviewed_again_for_a_minute() -> None:
    async with a_place() as place:
        assert [await place.status("bad") for _ in range(50)] == [401] * 50
        assert place.reviews.tokens == ["bad"]
        await place.clock.advance(61)
        assert (await place.status("bad"), place.reviews.tokens) == (401, ["bad", "bad"])


def test_given_more_addresses_than_can_be_kept_then_the_oldest_is_forgotten() -> None:
    budget = ReviewBudget(ManualClock())
    taken = [budget.take(f"{number}") for number in range(MOST_ADDRESSES + 500)]
    assert taken.count(True) == 20
    assert len(budget._by_address) == MOST_ADDRESSES
