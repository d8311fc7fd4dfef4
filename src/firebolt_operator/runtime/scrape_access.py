"""May this caller read our metrics? The API server knows; its verdicts are remembered for a while."""

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from aiohttp import web

from firebolt_operator.errors import OperatorError, TransientError
from firebolt_operator.kube.reviews import AccessQuestion, AccessVerdict, TokenOwner, TokenVerdict
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.review_budget import ReviewBudget

TOKEN_SECONDS: Final = 60.0
ALLOWED_SECONDS: Final = 300.0
DENIED_SECONDS: Final = 30.0
ACQUAINTED_SECONDS: Final = 86_400.0  # for as long a token that was good is no stranger's
TRIES: Final = 5
FIRST_RETRY_SECONDS: Final = 0.5
MOST_VERDICTS: Final = 1_000
REVIEWS_AT_ONCE: Final = 8

V = TypeVar("V")


class AccessReviews(Protocol):
    async def token(self, token: str) -> TokenVerdict: ...
    async def access(self, question: AccessQuestion) -> AccessVerdict: ...


@dataclass(slots=True)
class Remembered(Generic[V]):
    """Values with an end, at most so many."""

    clock: Clock
    _values: dict[Hashable, tuple[float, V]] = field(default_factory=dict[Hashable, tuple[float, V]])

    def get(self, key: Hashable) -> V | None:
        ends_at, value = self._values.get(key, (0.0, None))
        return value if ends_at > self.clock.monotonic() else None

    def put(self, key: Hashable, value: V, seconds: float) -> None:
        self._values.pop(key, None)
        self._values[key] = (self.clock.monotonic() + seconds, value)
        if len(self._values) > MOST_VERDICTS:
            del self._values[next(iter(self._values))]


class ScrapeAccess:
    """Who is remembered waits for nobody; whose token was good once waits for no stranger."""

    def __init__(self, reviews: AccessReviews, clock: Clock, rng: random.Random) -> None:
        self._reviews = reviews
        self._clock = clock
        self._rng = rng
        self._owners: Remembered[TokenVerdict] = Remembered(clock)
        self._refused: Remembered[TokenVerdict] = Remembered(clock)  # apart: strangers push out strangers only
        self._acquainted: Remembered[bool] = Remembered(clock)
        self._verdicts: Remembered[AccessVerdict] = Remembered(clock)
        self._gate = asyncio.Semaphore(REVIEWS_AT_ONCE)
        self._strangers = ReviewBudget(clock)
        self._strangers_under_way = 0

    async def check(self, request: web.Request) -> None:
        """Raises the HTTP answer for everyone who may not."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        # Other bytes than ASCII arrive as halves of characters, which cannot be passed on; no token has any.
        if scheme.lower() != "bearer" or not token.strip() or not token.isascii():
            raise web.HTTPUnauthorized(text="Unauthorized")
        try:
            verdict = await self._owner_of(token.strip(), request.remote or "")
        except OperatorError as err:
            raise web.HTTPInternalServerError(text="Authentication failed") from err
        if not verdict.is_authenticated:
            raise web.HTTPUnauthorized(text="Authentication failed")
        try:
            is_allowed = await self._may(verdict.owner, request.path, request.method.lower())
        except OperatorError as err:
            raise web.HTTPInternalServerError(text="Authorization failed") from err
        if not is_allowed:
            raise web.HTTPForbidden(text=f"Authorization denied for user {verdict.owner.username}")

    async def _owner_of(self, token: str, address: str) -> TokenVerdict:
        key = hashlib.sha256(token.encode()).digest()  # tokens themselves are not kept
        known = self._owners.get(key) or self._refused.get(key)
        if known is not None:
            return known
        if self._acquainted.get(key) is None:
            return await self._stranger(key, token, address)
        async with self._gate:
            return self._owners.get(key) or await self._reviewed(key, token)

    async def _stranger(self, key: bytes, token: str, address: str) -> TokenVerdict:
        if self._strangers_under_way >= REVIEWS_AT_ONCE or not self._strangers.take(address):
            raise web.HTTPTooManyRequests(text="Too many unknown tokens", headers={"Retry-After": "5"})
        self._strangers_under_way += 1
        try:
            return await self._reviewed(key, token)
        finally:
            self._strangers_under_way -= 1

    async def _reviewed(self, key: bytes, token: str) -> TokenVerdict:
        verdict = await self._asked(lambda: self._reviews.token(token))
        if verdict.is_authenticated:
            self._owners.put(key, verdict, TOKEN_SECONDS)
            self._acquainted.put(key, True, ACQUAINTED_SECONDS)
        else:
            self._refused.put(key, verdict, TOKEN_SECONDS)
        return verdict

    async def _may(self, owner: TokenOwner, path: str, verb: str) -> bool:
        key = (owner, path, verb)
        known = self._verdicts.get(key)
        if known is None:
            async with self._gate:
                known = self._verdicts.get(key) or await self._judged(owner, path, verb)
        return known.is_allowed

    async def _judged(self, owner: TokenOwner, path: str, verb: str) -> AccessVerdict:
        question = AccessQuestion(owner, non_resource_attributes={"path": path, "verb": verb})
        verdict = await self._asked(lambda: self._reviews.access(question))
        self._verdicts.put((owner, path, verb), verdict, ALLOWED_SECONDS if verdict.is_allowed else DENIED_SECONDS)
        return verdict

    async def _asked(self, ask: Callable[[], Awaitable[V]]) -> V:
        for attempt in range(TRIES - 1):
            try:
                return await ask()
            except TransientError:
                delay = FIRST_RETRY_SECONDS * 1.5**attempt
                await self._clock.sleep(delay * self._rng.uniform(1.0, 1.2))
        return await ask()
