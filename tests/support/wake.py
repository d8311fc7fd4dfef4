"""An agent's inner parts on a clock that the test moves; endpoints and routes are what the test says."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from firebolt_operator.api.resources import ENDPOINT_SLICES
from firebolt_operator.kube.ports import WatchEvent
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.wake.arrivals import Arrivals
from firebolt_operator.wake.decide.answers import Answer
from firebolt_operator.wake.decide.slices import BY_ENGINE, SliceView, decode_slice, engines_of
from firebolt_operator.wake.decide.wake_books import wake_books
from firebolt_operator.wake.hold_handler import HoldHandler
from firebolt_operator.wake.hold_times import HoldRecorder, HoldTimes
from firebolt_operator.wake.holds import Holds
from firebolt_operator.wake.metrics import Levels
from firebolt_operator.wake.readiness import Readiness
from firebolt_operator.wake.routing import Routes
from firebolt_operator.wake.unwakeable import UnwakeableEngines
from tests.support.manual_clock import ManualClock

LEVELS = Levels(
    pending_holds=dict[str, int],
    is_engine=lambda _: True,
    hold_cap=lambda: 0,
    demand_dropped=lambda: 0,
    is_synced=lambda: True,
    ready_engines=lambda: 0,
)

HOLD_TIMEOUT = timedelta(seconds=120)
REAL_SECONDS = 20.0


class NoHoldRecorder:
    """For tests that ask no metrics."""

    def held(self, outcome: str, seconds: float, /) -> None: ...
    def woken(self, seconds: float, /) -> None: ...
    def shed(self, engine: str, /) -> None: ...


@dataclass(slots=True)
class RoutesOfATest:
    is_open: bool = True
    asked: list[str] = field(default_factory=list[str])

    async def lead_to(self, engine: str, addresses: Iterable[str], /) -> bool:
        assert list(addresses)
        self.asked.append(engine)
        await asyncio.sleep(0)
        return self.is_open


class Bench:
    def __init__(
        self,
        *,
        cap: int = 1000,
        routes: Routes | None = None,
        clock: Clock | None = None,
        head_start: float = 0.0,
        recorder: HoldRecorder | None = None,
    ) -> None:
        """With other routes or another clock, the test has those and not the bench's own."""
        self.clock = ManualClock()
        self.cache: Cache[SliceView] = Cache(
            ENDPOINT_SLICES, decode_slice, coverage=Coverage(namespaces=("ns",)), indexes={BY_ENGINE: engines_of}
        )
        chosen = clock or self.clock
        self.readiness = Readiness(self.cache, chosen, HOLD_TIMEOUT)
        self.holds = Holds()
        self.routes = RoutesOfATest()
        self.arrivals = Arrivals(self.readiness, self.holds, routes or self.routes, chosen, head_start)
        self.unwakeable = UnwakeableEngines(self.holds, chosen, self.readiness.has_endpoints)
        self.times = HoldTimes(chosen, recorder or NoHoldRecorder(), lambda engine: self.holds.count(engine) > 0)
        self.readiness.listen(ready=self.times.ready)
        self.readiness.listen(ready=self.holds.release)
        self.readiness.listen(ready=self.unwakeable.forget, arriving=self.unwakeable.forget)
        self.demanded: list[str] = []
        self.is_known: Callable[[str], bool] = lambda _: True
        self.books = wake_books(self._is_known, lambda engine: self.holds.count(engine) > 0)
        self.cap = cap
        self.handler = HoldHandler(
            readiness=self.readiness,
            holds=self.holds,
            unwakeable=self.unwakeable,
            demand=self._demand,
            books=self.books,
            hold_began=self.arrivals.look_at,
            cap=lambda: self.cap,
            clock=chosen,
            hold_timeout=HOLD_TIMEOUT,
            times=self.times,
        )
        self.readiness.listen(gone=self.handler.vanished)
        self.version = 0

    def _is_known(self, engine: str) -> bool:
        return self.is_known(engine)

    def _demand(self, engine: str) -> bool:
        self.demanded.append(engine)
        requests = self.books.book_of(engine)
        requests.demand(engine, now=self.clock.monotonic())
        return engine in requests

    async def ask(self, engine: str) -> Answer:
        """For answers that come without the clock's help."""
        async with asyncio.timeout(REAL_SECONDS):
            return await self.handler.answer(engine)

    def sync(self, *engines: str) -> None:
        """The first list, with one ready pod for each of these."""
        self.version += 1
        listing = self.cache.begin_list("ns", self.version)
        for engine in engines:
            self.cache.listed(listing, self._body(engine, ("10.0.0.1",), "a"))
        self.cache.end_list(listing)

    def point(self, engine: str, *addresses: str, part: str = "a") -> None:
        self.version += 1
        self.cache.watched("ns", WatchEvent("MODIFIED", self._body(engine, addresses, part)))

    def _body(self, engine: str, addresses: tuple[str, ...], part: str) -> bytes:
        metadata = {
            "name": f"{engine}-{part}",
            "namespace": "ns",
            "uid": f"uid-{engine}-{part}",
            "resourceVersion": str(self.version),
            "labels": {"kubernetes.io/service-name": f"{engine}-service"},
        }
        endpoints = [{"addresses": [each], "conditions": {"ready": True}} for each in addresses]
        return json.dumps({"metadata": metadata, "endpoints": endpoints}).encode()


@asynccontextmanager
async def running(bench: Bench) -> AsyncGenerator[asyncio.TaskGroup]:
    """The group takes holds; all must have ended with the block, or the test fails."""
    async with asyncio.timeout(REAL_SECONDS), asyncio.TaskGroup() as services:
        arrivals = services.create_task(bench.arrivals.run())
        async with asyncio.TaskGroup() as group:
            yield group
        arrivals.cancel()


def results(tasks: Iterable[asyncio.Task[Answer]]) -> set[Answer]:
    return {task.result() for task in tasks}
