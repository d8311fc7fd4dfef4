"""Does the API server take what people write? Somebody who tries a server-side dry run, again and again, knows."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.errors import UnansweredError
from firebolt_operator.refs import Manifest
from tests.e2e.environment import INSTANCE, NAMESPACE, Environment

NOBODY_ANSWERS = "failed calling webhook"
GIVE_UP_SECONDS = 180.0
_EVERY_SECONDS = 0.1
_PATIENCE_SECONDS = 30.0  # the API server itself waits for a verdict for ten
_TAKEN = 201

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Knock:
    began_at: float
    ended_at: float
    problem: str  # empty if it was let in


def longest_gap(knocks: Iterable[Knock]) -> float:
    """Seconds from a knock that was refused to the next one that was let in, or to the last; 0 if all were let in."""
    longest, since = 0.0, None
    for each in sorted(knocks, key=lambda knock: knock.began_at):
        if each.problem or since is not None:
            since = each.began_at if since is None else since
            longest = max(longest, each.began_at - since)
        if not each.problem:
            since = None
    return longest


@dataclass(slots=True)
class Knocking:
    environment: Environment
    knocks: list[Knock] = field(default_factory=list[Knock])

    @property
    def problems(self) -> list[str]:
        return [each.problem for each in self.knocks if each.problem]

    @property
    def longest_gap(self) -> float:
        return longest_gap(self.knocks)

    def __str__(self) -> str:
        words = f"{len(self.knocks)} writes, {len(self.problems)} refused, longest gap {self.longest_gap:.1f} s"
        return f"{words}: {self.problems[0]}" if self.problems else words

    async def knock(self) -> None:
        began_at = time.monotonic()
        problem = await asyncio.to_thread(write_problem, self.environment, an_engine("knocking"))
        self.knocks.append(Knock(began_at, time.monotonic(), problem))

    async def until(self, *, is_let_in: bool) -> None:
        """For a knock with that outcome which begins after the call."""
        since = time.monotonic()
        async with asyncio.timeout(GIVE_UP_SECONDS):
            while not any(  # noqa: ASYNC110 - nobody tells
                bool(each.problem) != is_let_in and each.began_at >= since for each in self.knocks
            ):
                await asyncio.sleep(_EVERY_SECONDS)


@asynccontextmanager
async def knocking(environment: Environment) -> AsyncGenerator[Knocking]:
    """Ten times a second, however long the answers take, until the context is left."""
    found, is_over = Knocking(environment), asyncio.Event()

    async def run() -> None:
        async with asyncio.TaskGroup() as knocks:
            while not is_over.is_set():
                knocks.create_task(found.knock(), name="knock")
                await asyncio.sleep(_EVERY_SECONDS)

    async with asyncio.TaskGroup() as group:
        group.create_task(run(), name="knocking")
        try:
            yield found
        finally:
            is_over.set()


def an_engine(name: str, **spec: object) -> Manifest:
    return {
        "apiVersion": FIREBOLT_ENGINES.api_version,
        "kind": FIREBOLT_ENGINES.kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"instanceRef": INSTANCE, "replicas": 0, **spec},
    }


def write_problem(environment: Environment, engine: Manifest) -> str:
    """Nothing is stored; empty if it would be."""
    path = f"/apis/{FIREBOLT_ENGINES.api_version}/namespaces/{NAMESPACE}/{FIREBOLT_ENGINES.plural}?dryRun=All"
    patient = replace(environment.cluster.http, timeout_seconds=_PATIENCE_SECONDS)
    status, answer = patient.text("POST", path, json.dumps(engine))
    return "" if status == _TAKEN else str(json.loads(answer)["message"])


async def when_judged(act: Callable[[], Awaitable[T]]) -> T:
    """As people do: what nobody could judge is tried again."""
    async with asyncio.timeout(GIVE_UP_SECONDS):
        while True:
            try:
                return await act()
            except UnansweredError as err:
                if NOBODY_ANSWERS not in str(err):
                    raise
            await asyncio.sleep(_EVERY_SECONDS)
