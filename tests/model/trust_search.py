"""Visits every state of CAs, engines and gateway pods that can be reached, breadth first, and judges each."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tests.model import trust_world
from tests.model.stories import story
from tests.model.trust_world import World

LOST: Final = "a gateway pod does not trust an engine that takes queries"
OVERSTATED: Final = "engines are told of a CA that a gateway pod does not trust"
RESTLESS: Final = "what is not needed any more is trusted for ever, or an engine never switches"
MOST_ROUNDS: Final = 40


class BrokenError(AssertionError):
    """A rule, and how it came to that."""


@dataclass(slots=True)
class Search:
    came_from: dict[World, tuple[World | None, str]] = field(default_factory=dict)
    transitions: int = 0

    def run(self, world: World) -> None:
        waiting = deque([world])
        self.came_from[world] = (None, "start")
        while waiting:
            at = waiting.popleft()
            for name, after in trust_world.steps(at):
                self.transitions += 1
                if after not in self.came_from:
                    self.came_from[after] = (at, name)
                    for rule in broken(after):
                        raise BrokenError(f"{rule}\n{story(self.came_from, after)}")
                    waiting.append(after)

    def check_rest(self) -> None:
        ends = set[World]()
        for world in self.came_from:
            self._follow(world, ends)

    def _follow(self, world: World, ends: set[World]) -> None:
        path, at = list[World](), world._replace(changes_left=0, rolls_left=0, losses_left=0, hidden="")
        for _ in range(MOST_ROUNDS):
            if at in ends or _is_at_rest(at):
                ends.update(path)
                return
            path.append(at)
            at = _calm(at)
        raise BrokenError(f"{RESTLESS}\n{story(self.came_from, world)}\n{at}")


def broken(world: World) -> Iterator[str]:
    routed = {gen.served for engine in world.engines for gen in (engine.serving, engine.old) if gen is not None}
    for pod in world.pods:
        if not routed <= pod.loaded:
            yield LOST
        if not world.published <= pod.loaded:
            yield OVERSTATED


def _calm(world: World) -> World:
    """Everybody does the first thing that they can; nobody makes trouble."""
    world = world._replace(seen=None)
    for index in range(len(world.engines)):
        world = next((after for _, after in trust_world.engine_steps(world, index)), world)
    world = next((after for _, after in trust_world.gateway_steps(world)), world)
    if world.flight is not None:
        return trust_world.landed(world, world.flight)[1]
    found = trust_world.decided(world)
    return world if found is None else world._replace(flight=found)


def _is_at_rest(world: World) -> bool:
    are_settled = all(engine.next is None and engine.old is None for engine in world.engines)
    needed = {ca for engine in world.engines for ca in (engine.serving.served, engine.serving.secret)}
    live = {f"e{index}-g{engine.serving.number}" for index, engine in enumerate(world.engines)}
    carried = trust_world.carried(world.bundle)
    is_tidy = all(known and known <= live for _, known in world.bundle.known)
    return are_settled and is_tidy and needed <= carried == world.published


def explored(world: World) -> Search:
    search = Search()
    search.run(world)
    search.check_rest()
    return search
