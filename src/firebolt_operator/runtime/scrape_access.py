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

TOKEN_SECONDS: Final = 60.0
ALLOWED_SECONDS: Final = 300.0
DENIED_SECONDS: Final = 30.0
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
    def __init__(self, reviews: AccessReviews, clock: Clock, rng: random.Random) -> None:
        self._reviews = reviews
        self._clock = clock
        self._rng = rng
        self._tokens: Remembered[TokenVerdict] = Remembered(clock)
        self._verdicts: Remembered[AccessVerdict] = Remembered(clock)
        self._gate = asyncio.Semaphore(REVIEWS_AT_ONCE)

    async def check(self, request: web.Request) -> None:
        """Raises the HTTP answer for everyone who may not."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        # Other bytes than ASCII arrive as halves of characters, which cannot be passed on; no token has any.
        if scheme.lower() != "bearer" or not token.strip() or not token.isascii():
            raise web.HTTPUnauthorized(text="Unauthorized")
        try:
            async with self._gate:
                verdict = await self._owner_of(token.strip())
        except OperatorError as err:
            raise web.HTTPInternalServerError(text="Authentication failed") from err
        if not verdict.is_authenticated:
            raise web.HTTPUnauthorized(text="Authentication failed")
        try:
            async with self._gate:
                is_allowed = await self._may(verdict.owner, request.path, request.method.lower())
        except OperatorError as err:
            raise web.HTTPInternalServerError(text="Authorization failed") from err
        if not is_allowed:
            raise web.HTTPForbidden(text=f"Authorization denied for user {verdict.owner.username}")

    async def _owner_of(self, token: str) -> TokenVerdict:
        key = hashlib.sha256(token.encode()).digest()  # tokens themselves are not kept
        known = self._tokens.get(key)
        if known is None:
            known = await self._asked(lambda: self._reviews.token(token))
            self._tokens.put(key, known, TOKEN_SECONDS)
        return known

    async def _may(self, owner: TokenOwner, path: str, verb: str) -> bool:
        known = self._verdicts.get((owner, path, verb))
        if known is None:
            question = AccessQuestion(owner, non_resource_attributes={"path": path, "verb": verb})
            known = await self._asked(lambda: self._reviews.access(question))
            seconds = ALLOWED_SECONDS if known.is_allowed else DENIED_SECONDS
            self._verdicts.put((owner, path, verb), known, seconds)
        return known.is_allowed

    async def _asked(self, ask: Callable[[], Awaitable[V]]) -> V:
        for attempt in range(TRIES - 1):
            try:
                return await ask()
            except TransientError:
                delay = FIRST_RETRY_SECONDS * 1.5**attempt
                await self._clock.sleep(delay * self._rng.uniform(1.0, 1.2))
        return await ask()
