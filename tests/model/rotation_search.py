"""Visits every state of keys, engines, cert-manager and clocks that can be reached, breadth first, and judges each."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.model import rotation_operator, rotation_steps
from tests.model.rotation_rules import broken_step, broken_world
from tests.model.rotation_world import Engine, Gen, Issue, Key, May, Status, World, later, rendered, with_tokens
from tests.model.stories import story

UNFINISHED: Final = "a rotation that is due ends"
HELD_UP: Final = "whom a rotation waits for is named, and nobody else waits"
MOST_ROUNDS: Final = 60


class BrokenError(AssertionError):
    """A rule, and how it came to that."""


def start(keys: int = 2, **fields: Any) -> World:
    """Two engines at rest with the first key; so many keys are made before the world ends."""
    first = Gen(((1, 1),))
    world = World(
        status=Status(keys=(Key(1, "Active", 1, 0),), counter=1),
        issues=(Issue(has_certificate=True, secret=1, last=1), *([Issue()] * (keys - 1))),
        engines=(Engine(serving=first), Engine(serving=first)),
        used=1,
    )
    return world._replace(**fields)


@dataclass(slots=True)
class Search:
    most: int = 10_000_000
    came_from: dict[World, tuple[World | None, str]] = field(default_factory=dict)
    transitions: int = 0
    is_complete: bool = False

    def run(self, world: World) -> None:
        world = with_tokens(world)
        waiting = deque([world])
        self.came_from[world] = (None, "start")
        while waiting and len(self.came_from) < self.most:
            at = waiting.popleft()
            for name, step in rotation_steps.steps(at):
                after = with_tokens(step)
                self.transitions += 1
                self._judge(broken_step(at, after), at, name)
                if after not in self.came_from:
                    self.came_from[after] = (at, name)
                    self._judge(broken_world(after), after)
                    waiting.append(after)
        self.is_complete = not waiting

    def check_ends(self, *, every: int = 1) -> None:
        """From every state: if everybody does what they can, no rotation is left half done."""
        ends = set[World]()
        for world in list(self.came_from)[::every]:
            self._follow(world, ends, stuck=None)

    def check_stuck(self, *, every: int = 1) -> None:
        """The same with an engine that never moves again: it is named, or it is in nobody's way."""
        ends = set[World]()
        for world in list(self.came_from)[::every]:
            self._follow(world, ends, stuck=0)

    def _follow(self, world: World, ends: set[World], stuck: int | None) -> None:
        path, at = list[World](), calmed(world)
        for _ in range(MOST_ROUNDS):
            if at in ends or (len(at.status.keys) <= 1 and not at.flight):
                ends.update(path)
                return
            path.append(at)
            at = calm_round(at, stuck)
            if stuck is not None and path[-1] == at and _is_named(at, stuck):
                ends.update(path)
                return
        self._judge([UNFINISHED if stuck is None else HELD_UP], world)

    def _judge(self, problems: Iterable[str], world: World, name: str = "") -> None:
        for problem in problems:
            raise BrokenError(f"{problem}\n{story(self.came_from, world)}\n{name}")


def calmed(world: World) -> World:
    """People have done what they did, and rotation is wanted."""
    return world._replace(
        is_on=True, rotates=True, births_left=0, deletions_left=0, plants_left=0, switches_left=0, may=May()
    )


def calm_round(world: World, stuck: int | None) -> World:
    """Everybody moves as far as they can, then time passes."""
    world = world._replace(seen=None)
    for _ in range(12):
        moved = _one_by_one(world, stuck)
        if moved == world:
            break
        world = moved
    return later(world)


def _one_by_one(world: World, stuck: int | None) -> World:
    for index in range(len(world.engines)):
        if index != stuck:
            world = _first(rotation_steps.engine_steps(world, index), world)
    world = _first(rotation_steps.certificate_steps(world), world)
    if world.flight is not None:
        return rotation_steps.landed(world, world.flight)[1]
    found = rotation_operator.decided(world)
    return world if found is None else world._replace(flight=found)


def _first(steps: Iterator[rotation_steps.Step], world: World) -> World:
    return next((after for _, after in steps), world)


def _is_named(world: World, stuck: int) -> bool:
    others = [engine for index, engine in enumerate(world.engines) if index != stuck and engine.exists]
    told = rendered(world)
    are_served = all(not engine.wants or engine.serving == Gen(told or ()) for engine in others)
    return world.status.lagging == (f"e{stuck}",) and are_served


def searched(world: World, *, most: int = 10_000_000) -> Search:
    search = Search(most=most)
    search.run(world)
    return search
