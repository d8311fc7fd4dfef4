"""How do queries fare while everything around them changes? A steady, bounded stream of them, each one written down.

Queries start when they are due, however slow the answers are; a query that waits for its turn counts that wait. So a
stall shows up as many slow queries, not as a few that were never sent.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import aiohttp

from firebolt_local.standins.pod_header import POD_HEADER
from firebolt_local.testing.hosts import GivenHosts
from firebolt_local.testing.tokens import ENGINE_HEADER, Login, LoginError, Tokens
from kubectl_firebolt.picture.answers import Answer

NO_ANSWER: Final = 0
_OK: Final = 200
_WORDS_KEPT: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    url: str
    engine: str
    sql: str = "SELECT 1"
    per_second: float = 50.0
    most_open: int = 256  # queries under way at a time
    timeout: timedelta = timedelta(seconds=60)
    tls: ssl.SSLContext | None = None  # whom the client believes; none: whom the machine believes
    login: Login | None = None  # with it every query carries a token
    hosts: Mapping[str, str] = field(default_factory=dict[str, str])  # their addresses; empty: DNS knows them


@dataclass(slots=True)
class Load:
    plan: Plan
    session: aiohttp.ClientSession
    clock: Callable[[], float]
    tokens: Tokens | None = None
    answers: list[Answer] = field(default_factory=list[Answer])
    _is_stopped: bool = False

    def stop(self) -> None:
        """No new queries; those under way are finished."""
        self._is_stopped = True

    async def run(self) -> None:
        slots = asyncio.Semaphore(self.plan.most_open)
        began_at, asked = self.clock(), 0
        async with asyncio.TaskGroup() as group:
            while not self._is_stopped:
                due_at = began_at + asked / self.plan.per_second
                await asyncio.sleep(max(0.0, due_at - self.clock()))
                await slots.acquire()
                group.create_task(self._one(due_at, slots), name=f"query {asked}")
                asked += 1

    async def _one(self, due_at: float, slots: asyncio.Semaphore) -> None:
        try:
            self.answers.append(await ask(self.session, self.plan, clock=self.clock, due_at=due_at, tokens=self.tokens))
        finally:
            slots.release()


@asynccontextmanager
async def steady_load(plan: Plan, clock: Callable[[], float] = time.monotonic) -> AsyncGenerator[Load]:
    """Runs for as long as the context is open, and leaves it only once the last query is answered."""
    async with client_session(plan) as session, asyncio.TaskGroup() as group:
        load = Load(plan, session, clock, tokens_of(plan, session, clock))
        group.create_task(load.run(), name="load")
        yield load
        load.stop()


def client_session(plan: Plan) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        limit=plan.most_open,
        ssl=True if plan.tls is None else plan.tls,
        resolver=GivenHosts(plan.hosts) if plan.hosts else None,
    )
    timeout = aiohttp.ClientTimeout(total=plan.timeout.total_seconds())
    return aiohttp.ClientSession(connector=connector, timeout=timeout)


def tokens_of(plan: Plan, session: aiohttp.ClientSession, clock: Callable[[], float]) -> Tokens | None:
    return None if plan.login is None else Tokens(session, plan.login, clock)


async def ask(
    session: aiohttp.ClientSession,
    plan: Plan,
    *,
    clock: Callable[[], float],
    due_at: float | None = None,
    tokens: Tokens | None = None,
) -> Answer:
    answer, _ = await ask_for_body(session, plan, clock=clock, due_at=due_at, tokens=tokens)
    return answer


async def ask_for_body(
    session: aiohttp.ClientSession,
    plan: Plan,
    *,
    clock: Callable[[], float],
    due_at: float | None = None,
    tokens: Tokens | None = None,
) -> tuple[Answer, bytes]:
    """One query; whatever goes wrong, logging in included, becomes part of the answer."""
    asked_at = clock() if due_at is None else due_at
    status, pod, problem, body = NO_ANSWER, "", "", b""
    try:
        headers = {ENGINE_HEADER: plan.engine, **({} if tokens is None else await tokens.header())}
        async with session.post(plan.url, data=plan.sql, headers=headers) as response:
            status, pod = response.status, response.headers.get(POD_HEADER, "")
            body = await response.read()
            problem = "" if status == _OK else f"HTTP {status}: {body.decode(errors='replace')[:_WORDS_KEPT].strip()}"
    except (aiohttp.ClientError, LoginError, OSError, TimeoutError) as err:
        problem = f"{type(err).__name__}: {err}".removesuffix(": ")
    return Answer(due_at=asked_at, seconds=clock() - asked_at, status=status, pod=pod, problem=problem), body
