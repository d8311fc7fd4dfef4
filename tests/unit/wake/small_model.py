"""Every order in which holds and readiness can meet, on the real bookkeeping: two holds, two registrations."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from firebolt_operator.wake.holds import Holds, Registration, Waiter

ENGINE = "eng"
SLOTS = (0, 1)
MOST_REGISTRATIONS = 2

Action = tuple[str, int]
State = tuple[object, ...]
MakeHolds = Callable[[], Holds]


@dataclass(slots=True)
class World:
    """Bookkeeping under test, and what a hold knows of itself between two of its steps."""

    make: MakeHolds
    holds: Holds = field(init=False)
    is_ready: bool = False
    held: dict[int, Waiter] = field(default_factory=dict[int, Waiter])
    awake: set[int] = field(default_factory=set[int])  # the wait ended, the waiter has not left yet
    handed_out: list[Registration] = field(default_factory=list[Registration])
    released: set[int] = field(default_factory=set[int])  # registrations that the engine's readiness retired

    def __post_init__(self) -> None:
        self.holds = self.make()

    @property
    def registered(self) -> Registration | None:
        return self.holds._registered.get(ENGINE)

    def number(self, registration: Registration | None) -> int:
        return 0 if registration is None else self.handed_out.index(registration) + 1

    def is_retired(self, registration: Registration) -> bool:
        return registration is not self.registered

    def state(self) -> State:
        slots = tuple(self._slot(slot) for slot in SLOTS)
        books = self.number(self.registered), self.holds.count(ENGINE)
        return self.is_ready, *books, len(self.handed_out), frozenset(self.released), slots

    def _slot(self, slot: int) -> tuple[str, int, bool]:
        waiter = self.held.get(slot)
        if waiter is None:
            return "absent", 0, False
        return "awake" if slot in self.awake else "parked", self.number(waiter.registration), waiter.ended.done()

    def actions(self) -> Iterator[Action]:
        yield ("gone" if self.is_ready else "ready"), 0
        yield "restart", 0
        for slot in SLOTS:
            yield from ((name, slot) for name in self._actions_of(slot))

    def _actions_of(self, slot: int) -> Iterator[str]:
        waiter = self.held.get(slot)
        if waiter is None:
            if not self.is_ready and (self.registered or len(self.handed_out) < MOST_REGISTRATIONS):
                yield "arrive"
        elif slot in self.awake:
            yield "leave"
        else:
            yield "wake" if waiter.ended.done() else "give up"

    def do(self, action: Action) -> None:
        name, slot = action
        match name:
            case "ready":
                self.is_ready = True
                self.released |= {self.number(self.registered)} - {0}
                self.holds.release(ENGINE)
            case "gone":
                self.is_ready = False
            case "restart":
                self.holds, self.held, self.awake = self.make(), {}, set()
            case "arrive":
                self._arrive(slot)
            case "wake" | "give up":
                self.awake.add(slot)
            case _:
                self.awake.discard(slot)
                self.holds.leave(self.held.pop(slot))

    def _arrive(self, slot: int) -> None:
        waiter = self.holds.join(ENGINE)
        if waiter.registration not in self.handed_out:
            self.handed_out.append(waiter.registration)
        self.held[slot] = waiter

    # What must hold in every state

    def problems(self) -> Iterator[str]:
        for slot, waiter in self.held.items():
            if slot not in self.awake and not waiter.ended.done() and self.is_retired(waiter.registration):
                yield f"hold {slot} is stranded"
        on_registered = sum(1 for waiter in self.held.values() if waiter.registration is self.registered)
        if self.holds.count(ENGINE) != on_registered:
            yield f"{self.holds.count(ENGINE)} are counted, {on_registered} wait"
        if self.registered is not None and not on_registered:
            yield "an empty registration is kept"
        if self.holds.total != len(self.held):
            yield f"{self.holds.total} slots are taken by {len(self.held)} holds"


def explore(make: MakeHolds) -> tuple[set[State], list[str]]:
    """All reachable states, and what is wrong in any of them. Objects cannot be copied, so every path is replayed."""
    seen: set[State] = set()
    found: list[str] = []
    paths: deque[tuple[Action, ...]] = deque([()])
    while paths:
        path = paths.popleft()
        world = replayed(make, path)
        if world.state() in seen:
            continue
        seen.add(world.state())
        problems = list(world.problems())
        found += [f"{problem} after {path}" for problem in problems]
        if not problems:
            paths.extend((*path, action) for action in world.actions())
    return seen, found


def replayed(make: MakeHolds, path: tuple[Action, ...]) -> World:
    world = World(make)
    for action in path:
        world.do(action)
    return world
