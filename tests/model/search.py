"""Visits every state that the operator and its surroundings can reach, breadth first, and judges each.

A state is a distinct tuple of cluster objects, cached view, unanswered writes and budget of happenings left.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.model import invariants, steps
from tests.model.actions import calm, happenings
from tests.model.children import ViolationError
from tests.model.passes import WHOLE_PASS, Ending, Passes
from tests.model.world import Budget, Gen, Service, State, Sts, initial

MOST_CALM_STEPS = 60
RESTLESS = "does not come to rest"
Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Search:
    """`most` ends the search early; what was visited by then still counts."""

    most: int
    start: State = field(default_factory=initial)
    passes: Passes = field(default_factory=Passes)
    came_from: dict[State, tuple[State | None, str]] = field(default_factory=dict)
    comes_to_rest: set[State] = field(default_factory=set)
    transitions: int = 0
    is_complete: bool = False

    def run(self, progress: Progress | None = None) -> None:
        waiting = deque([self.start])
        self.came_from[self.start] = (None, "start")
        while waiting and len(self.came_from) < self.most:
            state = waiting.popleft()
            for ending in self._endings(state):
                self._judge(state, ending)
                if ending.state not in self.came_from:
                    self.came_from[ending.state] = (state, ending.name)
                    waiting.append(ending.state)
            if progress is not None and len(self.came_from) % 5000 < 20:
                progress(len(self.came_from), len(waiting))
        self.is_complete = not waiting

    def _endings(self, state: State) -> list[Ending]:
        try:
            found = [*self.passes.endings(state), *happenings(state)]
        except ViolationError as err:
            raise AssertionError(f"{err}\n{self.story(state)}") from err
        self.transitions += len(found)
        return found

    def _judge(self, before: State, ending: Ending) -> None:
        rule = invariants.violated(ending.state) or steps.broken_step(before, ending.state, is_ours=ending.is_ours)
        if rule is None and ending.name == WHOLE_PASS:
            rule = steps.broken_pass(before, ending.state)
        if rule is not None:
            self.came_from.setdefault(ending.state, (before, ending.name))
            raise AssertionError(f"{rule}\n{self.story(before)}\n  {ending.name}\n    {ending.state}")

    def check_rest(self) -> None:
        """From every state a fair schedule leads to rest, at the latest spec, with nothing left over."""
        for state in self.came_from:
            self._follow(state)

    def _follow(self, state: State) -> None:
        path = list[State]()
        while len(path) < MOST_CALM_STEPS:
            state = calm(state)
            if state in self.comes_to_rest or self._is_at_rest(state):
                self.comes_to_rest.update(path)
                self.comes_to_rest.add(state)
                return
            path.append(state)
            state = self.passes.whole(state)
        raise AssertionError(f"{RESTLESS}\n{self.story(path[0])}\n{path[-1]}")

    def _is_at_rest(self, state: State) -> bool:
        engine = state.truth.engine
        if engine is None:
            return not steps.leftovers(state)
        wanted = "stopped" if engine.spec.is_stopped else "stable"
        status, children, uid = engine.status, state.truth.children, engine.uid
        is_latest = status.phase == wanted and status.observed == engine.spec.version + 1 and not status.standing
        has_all = children.gens[status.current] == Gen(Sts(uid, engine.spec, is_deleting=False), uid, uid)
        is_routed = children.service == Service(uid, status.active)
        budget = Budget(uid, frozenset({status.active})) if engine.has_budget else None
        return is_latest and has_all and is_routed and children.budget == budget and not steps.leftovers(state)

    def story(self, state: State) -> str:
        """How the search came there, for people: every step, and where the last one began."""
        steps_there = list[str]()
        at: State | None = state
        while at is not None:
            at, name = self.came_from.get(at, (None, "?"))
            steps_there.append(f"  {name}")
        return "\n".join([*reversed(steps_there), f"    {state}"])
