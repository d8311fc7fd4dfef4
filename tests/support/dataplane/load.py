"""Queries in numbers: at a steady rate or a steady number in flight, and what became of every one of them."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.dataplane.client import Client, ConnectionEndedError
from tests.support.dataplane.http_messages import Message


@dataclass(slots=True)
class Report:
    latencies: list[float] = field(default_factory=list[float])  # seconds, of answered queries
    failures: list[str] = field(default_factory=list[str])
    retries: int = 0

    @property
    def sent(self) -> int:
        return len(self.latencies) + len(self.failures)

    def percentile(self, share: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0

    def __str__(self) -> str:
        kinds = dict(Counter(self.failures).most_common(5))
        return (
            f"{self.sent} queries, {len(self.failures)} failed {kinds or ''}, {self.retries} retries,"
            f" p50 {self.percentile(0.50) * 1000:.1f} ms, p99 {self.percentile(0.99) * 1000:.1f} ms"
        )


@dataclass(slots=True)
class Load:
    """Every query has an id of its own, so that the engines' ledger can tell how often it ran."""

    client: Client
    engine: str = "eng"
    delay: Callable[[], float] = field(default=lambda: 0.0)  # seconds an engine takes, per query
    pause: Callable[[], float] = field(default=lambda: 0.0)  # seconds between two queries of one sender
    report: Report = field(default_factory=Report)
    is_over: bool = False
    sent: int = 0  # whether or not they were answered

    async def until_sent(self, count: int) -> None:
        while self.sent < count:  # noqa: ASYNC110 - a load that is under way tells nobody
            await asyncio.sleep(0.01)

    async def at_rate(self, per_second: float) -> None:
        """Queries start on time whether or not earlier ones were answered; returns when all are."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        async with asyncio.TaskGroup() as group:
            for number in range(1_000_000):
                if self.is_over:
                    return
                await asyncio.sleep(max(0.0, begun + number / per_second - loop.time()))
                group.create_task(self._one())

    async def in_flight(self, count: int) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(self._until_over())

    async def _until_over(self) -> None:
        while not self.is_over:
            await self._one()
            pause = self.pause()
            if pause:
                await asyncio.sleep(pause)

    async def _one(self) -> None:
        self.sent += 1
        delay = self.delay()
        target = f"/?id={self.engine}-{self.sent}" + (f"&delay={delay:.3f}" if delay else "")
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            answer = await self.client.query(target, self.engine)
        except (OSError, TimeoutError, ConnectionEndedError) as err:
            self.report.failures.append(type(err).__name__)
            return
        if answer.status == 200:
            self.report.latencies.append(loop.time() - begun)
            return
        self.report.failures.append(_described(answer))


def between(shortest: float, longest: float) -> Callable[[], float]:
    return lambda: random.uniform(shortest, longest)


def _described(answer: Message) -> str:
    return f"{answer.status} {answer.body[:60].decode(errors='replace').strip()}"
