"""Visits every state of agent, annotation, operator, engine and clock, breadth first, and judges each step."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from tests.model import wake_rules
from tests.model.stories import story
from tests.model.wake_agent import agent_steps, appeared, claimed, landed, requested, routed
from tests.model.wake_operator import ANSWERS, QUIET, Look, Pass, Passes, Write
from tests.model.wake_world import AHEAD, NONSENSE, OLDEST, ROLLING, SIZES, Status, World, initial, later

PATIENCE: Final = 4  # ticks until a hold must have ended; agents give up earlier
PASSES_PER_TICK: Final = 4
Step = tuple[str, World]


class BrokenError(AssertionError):
    """A rule, and how it came to that."""


@dataclass(slots=True)
class Search:
    passes: Passes = field(default_factory=Passes)
    came_from: dict[World, tuple[World | None, str]] = field(default_factory=dict)
    transitions: int = 0

    def run(self, starts: Iterable[World]) -> None:
        waiting = deque(starts)
        self.came_from.update(dict.fromkeys(waiting, (None, "start")))
        while waiting:
            world = waiting.popleft()
            for name, after in self._steps(world):
                self.transitions += 1
                if after not in self.came_from:
                    self.came_from[after] = (world, name)
                    self._judge(wake_rules.broken_world(after), after)
                    waiting.append(after)

    def check_holds(self) -> None:
        """From every state: with an API server, an operator and pods that work, whoever waits is answered."""
        ends = set[World]()
        for world in self.came_from:
            if world.agent.holds:
                self._follow(world, ends)

    def _follow(self, world: World, ends: set[World]) -> None:
        path, at = list[World](), world
        for _ in range(PATIENCE):
            if not at.agent.holds or at in ends:
                ends.update(path)
                return
            path.append(at)
            at = self._calm_tick(at)
        if at.agent.holds:
            self._judge(["whoever waits is answered"], world)

    def _calm_tick(self, world: World) -> World:
        agent = world.agent
        if agent.flight is None and agent.is_due:
            world = world._replace(agent=claimed(agent))
        if world.agent.flight is not None:
            world = landed(world)
        for _ in range(PASSES_PER_TICK):
            world = world._replace(seen=world.truth)
            world = self._whole(world, Look(world.seen, world.truth, QUIET, is_rolled=True))
        if world.truth.status.size and not world.agent.sees_endpoints:
            world = world._replace(agent=appeared(world.agent))
        if world.agent.sees_endpoints:
            world = world._replace(agent=routed(world.agent))
        return later(world)

    def _steps(self, world: World) -> Iterator[Step]:
        yield "time passes", later(world)
        yield from agent_steps(world)
        yield from _strangers(world)
        yield from _people(world)
        if world.seen != world.truth:
            yield "the watch tells", world._replace(seen=world.truth)
        for look in _looks(world):
            yield from self._endings(world, look)

    def _endings(self, world: World, look: Look) -> Iterator[Step]:
        """The whole pass, and a process that dies after each of its writes: the next one begins with a live look."""
        ran = self.passes.run(look)
        self._judge(wake_rules.broken_pass(look, ran), world)
        at = world
        for write in ran.writes:
            self._judge(wake_rules.broken_write(at, look, write), at)
            at = _written(at, look, write)
            yield "the operator writes and dies", at._replace(seen=at.truth)
        yield look.answer, self._done(at, look, ran)

    def _whole(self, world: World, look: Look) -> World:
        ran, at = self.passes.run(look), world
        for write in ran.writes:
            at = _written(at, look, write)
        return self._done(at, look, ran)

    @staticmethod
    def _done(world: World, look: Look, ran: Pass) -> World:
        # Caches read their own writes. A process that died before it could say what it did has not used a request.
        seen = world.truth if ran.writes else world.seen
        had_nodes = max(look.seen.replicas, world.truth.replicas) > 0
        is_read = look.seen == look.truth and look.seen.request not in {None, AHEAD, NONSENSE}
        is_heard = had_nodes and is_read and not ran.has_failed
        return world._replace(seen=seen, is_used=world.is_used or is_heard)

    def _judge(self, problems: Iterable[str], world: World) -> None:
        for problem in problems:
            raise BrokenError(f"{problem}\n{story(self.came_from, world)}")


def _looks(world: World) -> Iterator[Look]:
    answers = ANSWERS if world.seen.replicas else (QUIET,)
    outcomes = (False, True) if world.seen.status.phase == ROLLING else (False,)
    for answer in answers:
        for is_rolled in outcomes:
            yield Look(world.seen, world.truth, answer, is_rolled)


def _written(world: World, look: Look, write: Write) -> World:
    if write.replicas is not None:
        return world._replace(truth=world.truth._replace(replicas=write.replicas))
    assert write.status is not None
    return world._replace(truth=world.truth._replace(status=write.status), up=_up(world, look, write.status))


def _up(world: World, look: Look, status: Status) -> int | None:
    if status.phase != "stable" or not status.size:
        return world.up if status.size else None
    return 0 if look.seen.status.phase != "stable" else world.up


def _strangers(world: World) -> Iterator[Step]:
    if world.strangers_left:
        for request in (0, 1, OLDEST, AHEAD, NONSENSE):
            stamped = requested(world, request)
            yield f"a stranger asks ({request})", stamped._replace(strangers_left=world.strangers_left - 1)


def _people(world: World) -> Iterator[Step]:
    if world.edits_left:
        for replicas in SIZES:
            if replicas != world.truth.replicas:
                truth = world.truth._replace(replicas=replicas)
                yield f"a person sets {replicas}", world._replace(truth=truth, edits_left=world.edits_left - 1)


def searched(*, edits: int, strangers: int, replicas: Iterable[int] = SIZES) -> Search:
    search = Search()
    try:
        search.run([initial(level, edits=edits, strangers=strangers) for level in replicas])
        search.check_holds()
    finally:
        search.passes.close()
    return search
