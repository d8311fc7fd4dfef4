"""Runs the real reconciler once on a State, and says what every possible ending of that pass leaves behind."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from firebolt_operator.engine.dependencies import EngineDependencies
from firebolt_operator.engine.inputs import EngineSettings
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.engine.observe.caches import EngineCaches, engine_caches
from firebolt_operator.engine.observe.metrics import NoEngineRecorder
from firebolt_operator.engine.observe.scrape_lane import Purpose, ScrapeLane, Topic, waiting_line
from firebolt_operator.engine.observe.scrape_places import ScrapePlaces
from firebolt_operator.errors import OperatorError
from firebolt_operator.observability.events import EventSender
from firebolt_operator.policy.bounds import parse_bounds
from tests.model import objects
from tests.model.children import ViolationError
from tests.model.server import NO_TROUBLE, ModelServer, Trouble
from tests.model.world import JUST_SWITCHED, SETTLED, TIMED_OUT, Heard, State, asked
from tests.support.auth_step import auth_secrets
from tests.support.engines import NOON, SECOND
from tests.support.listeners import listener_reader
from tests.support.recorders import QueueNotes

WHOLE_PASS = "pass"
DRAIN = Topic((objects.NAMESPACE, objects.ENGINE), Purpose.DRAIN)
A_MOMENT = 6 * SECOND
"""Longer than drainCheckInterval: whoever was busy then is asked again."""
INSTANTS = {
    JUST_SWITCHED: NOON,
    SETTLED: NOON + 2 * objects.SETTLE,
    TIMED_OUT: NOON + 2 * objects.TIMEOUT,
}
SETTINGS = EngineSettings(
    images=objects.IMAGES,
    bounds=parse_bounds(cpu="", memory="", ephemeral_storage=""),
    drain_settle=objects.SETTLE,
)


@dataclass(frozen=True, slots=True)
class StandingClock:
    instant: datetime

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return self.instant.timestamp()


@dataclass(frozen=True, slots=True)
class Ending:
    name: str
    state: State
    is_ours: bool = False  # what a pass of the operator came to, not what happened around it


class Passes:
    """One event loop and one set of caches, emptied before every pass."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._caches = engine_caches((), "")

    def close(self) -> None:
        self._loop.close()

    def endings(self, state: State) -> Iterator[Ending]:
        """The whole pass, a crash after each write, each answer lost while the process lives on, each write refused."""
        server = self.run(state)
        after = _after(state, server)
        yield Ending(WHOLE_PASS, after, is_ours=True)
        if server.question is not None:
            yield Ending("pass, and the pods that it asks answer", asked(after, server.question), is_ours=True)
        if not server.history:
            return
        for number, (truth, elapsed) in enumerate(server.history):
            left = state._replace(truth=truth, elapsed=elapsed)
            yield Ending(f"crash after write {number}", self.restarted(left), is_ours=True)
        for number in range(len(server.history)):
            for happens in (True, False):
                lost = self.run(state, Trouble(lost=number, happens=happens))
                name = f"answer {number} lost, {'written' if happens else 'not written'}"
                yield Ending(name, _after(state, lost), is_ours=True)
            if state.may.writes_be_refused:
                refused = self.run(state, Trouble(refused=number))
                yield Ending(f"write {number} refused", _after(state, refused), is_ours=True)

    @staticmethod
    def restarted(state: State) -> State:
        """A new process lists everything before its first pass, and remembers nothing."""
        return state._replace(seen=state.truth, suspects=frozenset(), heard=None)

    def whole(self, state: State) -> State:
        """Whoever asks is answered right afterwards."""
        server = self.run(state)
        after = _after(state, server)
        return after if server.question is None else asked(after, server.question)

    def run(self, state: State, trouble: Trouble = NO_TROUBLE) -> ModelServer:
        _empty(self._caches)
        server = ModelServer(state, self._caches, trouble)
        clock = StandingClock(INSTANTS[state.elapsed])
        lane = self._lane(server, clock, state.heard)
        self._loop.run_until_complete(self._reconcile(server, clock, lane))
        question = lane._open.get(DRAIN)
        server.question = question.pods[0].generation if question else None
        return server

    def _lane(self, server: ModelServer, clock: StandingClock, heard: Heard | None) -> ScrapeLane:
        """What it was told of the pods; that it asks is enough here."""
        lane = ScrapeLane(
            instances=self._caches.instances,
            reader=server,
            clock=clock,  # type: ignore[arg-type]
            places=ScrapePlaces(clock, engines=1),  # type: ignore[arg-type]
            proxy_pace=None,
            line=waiting_line(clock, QueueNotes()),  # type: ignore[arg-type]
            answered=lambda _key: None,
        )
        if heard is not None:
            lane._known[DRAIN] = objects.real_answers(heard, INSTANTS[heard.elapsed] - A_MOMENT)
        return lane

    async def _reconcile(self, server: ModelServer, clock: StandingClock, lane: ScrapeLane) -> None:
        dependencies = EngineDependencies(
            caches=self._caches,
            reader=server,
            writer=server,
            events=EventSender(server, controller="fireboltengine", instance="model"),
            recorder=NoEngineRecorder(),
            clock=clock,  # type: ignore[arg-type]
            settings=SETTINGS,
            scrapes=lane,
            blueprint=objects.blueprint,
            auth=auth_secrets(server, clock),  # type: ignore[arg-type]
            listeners=listener_reader(self._caches, server, clock),  # type: ignore[arg-type]
        )
        try:
            await EngineReconciler(dependencies).reconcile((objects.NAMESPACE, objects.ENGINE))
        except ViolationError:
            raise
        except OperatorError:
            # It will be tried again: what it left behind is a state like any other.
            return


def _after(state: State, server: ModelServer) -> State:
    engine, heard = server.truth.engine, state.heard
    # A generation drains once: nobody asks for its answers again.
    is_past = heard is None or engine is None or engine.status.draining != heard.generation
    return state._replace(
        truth=server.truth,
        seen=server.seen,
        suspects=frozenset(server.suspects),
        elapsed=server.elapsed,
        heard=None if is_past else heard,
    )


def _empty(caches: EngineCaches) -> None:
    for cache in caches.all():
        cache._entries.clear()
        cache._suspects.clear()
        cache._tombstones = type(cache._tombstones)()
        for keys in cache._indexes._keys.values():
            keys.clear()
