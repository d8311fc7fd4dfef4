"""Engines of one class that roll a few at a time: every order of edits, stalls, blocks, deletions and arrivals.

An engine is reduced to what its turn depends on; whether it waits, starts or starts over is decided by the operator.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.engine.decide.phases import decide_phase
from firebolt_operator.engine.decide.progress import Findings, with_findings
from firebolt_operator.engine.decide.rolling import Origin, Standing, Turn, has_room, standing_of
from firebolt_operator.engine.decide.situation import Situation
from firebolt_operator.reconciling.verdicts import Verdict
from tests.support.engines import NOON, UID, NamedBlueprint, a_generation, a_spec, a_status, drain_rules, some_facts

TOO_MANY = "more engines roll for one cause than may"
KEPT_WAITING = "an edit of the engine itself waits"
OVERTAKEN = "an engine starts before one that waits and comes first by name"
STUCK = "an engine never arrives"
READY = Verdict(status="True", reason="EngineReady", message="")
BLOCKED = Verdict(status="False", reason="InstanceNotReady", message="")


class Wanted(NamedTuple):
    spec: int  # metadata.generation of the engine
    engine_class: int


class Engine(NamedTuple):
    spec: int = 1
    made_from: Wanted = Wanted(1, 1)
    settled: Wanted = Wanted(1, 1)
    is_rolling: bool = False
    is_queued: bool = False
    cause: str = ""
    is_blocked: bool = False  # its instance is gone
    is_stuck: bool = False  # its new pods do not get ready
    is_refused: bool = False  # its writes fail
    is_overdue: bool = False  # it had room for a minute, and did not start
    is_late: bool = False  # it rolls for longer than neighbours wait for each other


class World(NamedTuple):
    engines: tuple[Engine | None, ...]
    most: int
    engine_class: int = 1
    class_edits: int = 2
    edits: int = 1
    deletions: int = 1
    troubles: int = 1
    namespaces: tuple[str, ...] = ()  # of the engines; all in one if empty


class BrokenError(AssertionError):
    pass


def key_of(world: World, number: int) -> tuple[str, str]:
    return world.namespaces[number] if world.namespaces else "ns", f"e{number}"


@cache
def status_of(engine: Engine) -> EngineStatus:
    status = a_status(
        phase="creating" if engine.is_rolling else "stable",
        current_generation=1 if engine.is_rolling else 0,
        settled_generation=engine.settled.spec,
        settled_class=f"big/{engine.settled.engine_class}",
        rollout_cause=engine.cause,
    )
    found = Findings(ready=BLOCKED if engine.is_blocked else READY, queued="waits" if engine.is_queued else "")
    return with_findings(status, found, spec_generation=engine.spec, now=NOON)


def step(world: World, number: int) -> World:
    """What one pass of the operator makes of that engine."""
    engine = world.engines[number]
    if engine is None:
        return world
    if engine.is_blocked:
        return replaced(world, number, engine._replace(is_queued=False))
    cause = origin_of(engine, world.engine_class).cause(status_of(engine), "engine:1")
    room = has_room(key_of(world, number), others(world, number, cause), world.most)
    after = decided(engine, world.engine_class, Turn(cause=cause, has_room=room))
    if engine.is_refused:
        return world
    judge(world, number, after)
    return replaced(world, number, after)


def a_minute_later(world: World) -> World:
    """Who may start, and cannot, does not count any more."""
    for number, engine in enumerate(world.engines):
        if engine is not None and engine.is_refused and standing_of(status_of(engine)) is Standing.WAITING:
            room = has_room(key_of(world, number), others(world, number, engine.cause), world.most)
            world = replaced(world, number, engine._replace(is_overdue=engine.is_overdue or room))
    return world


def half_an_hour_later(world: World) -> World:
    """Only of those that never arrive it matters."""
    for number, engine in enumerate(world.engines):
        if engine is not None and engine.is_rolling and engine.is_stuck:
            world = replaced(world, number, engine._replace(is_late=True))
    return world


def origin_of(engine: Engine, engine_class: int) -> Origin:
    version = f"big/{engine_class}"
    return Origin(spec_generation=engine.spec, class_name="ns/big", class_version=version, default_image="")


@cache
def decided(engine: Engine, engine_class: int, turn: Turn) -> Engine:
    wanted, status = Wanted(engine.spec, engine_class), status_of(engine)
    current = a_generation(1 if engine.is_rolling else 0, ready=0 if engine.is_rolling else 2)
    plan = decide_phase(
        Situation(
            spec=a_spec(),
            uid=UID,
            status=status,
            facts=some_facts(current=current, active=a_generation(0)),
            blueprint=NamedBlueprint(None if engine.made_from == wanted else "edited"),
            drain=drain_rules(),
            now=NOON,
            turn=turn,
            origin=origin_of(engine, engine_class),
        )
    )
    is_begun = plan.status.current_generation != status.current_generation
    return Engine(
        spec=engine.spec,
        made_from=wanted if is_begun else engine.made_from,
        settled=wanted if plan.is_at_rest else engine.settled,
        is_rolling=plan.status.phase == "creating",
        is_queued=bool(plan.queued),
        cause=plan.status.rollout_cause,
        is_stuck=engine.is_stuck,
        is_late=engine.is_late and plan.status.phase == "creating",
    )


def others(world: World, me: int, cause: str) -> list[tuple[tuple[str, str], Standing]]:
    found = list[tuple[tuple[str, str], Standing]]()
    for number, engine in enumerate(world.engines):
        their = standing_of(status_of(engine)) if engine is not None and engine.cause == cause else None
        is_left_out = engine is not None and engine.is_overdue and their is Standing.WAITING
        if number == me or engine is None or their is None or is_left_out:
            continue
        is_ignored = their is Standing.ROLLING and engine.is_late and key_of(world, number)[0] != key_of(world, me)[0]
        found.append((key_of(world, number), Standing.OVERDUE if is_ignored else their))
    return found


def judge(before: World, number: int, after: Engine) -> None:
    old = before.engines[number]
    is_own = old is not None and old.settled.spec != old.spec
    if is_own and after.is_queued:
        raise BrokenError(KEPT_WAITING)
    if not after.is_rolling or not after.cause or (old is not None and old.is_rolling):
        return
    rest = others(before, number, after.cause)
    if sum(their is Standing.ROLLING for _, their in rest) >= before.most:
        raise BrokenError(TOO_MANY)
    late = [key[0] for key, their in rest if their is Standing.OVERDUE]
    ahead = sum(
        their is Standing.WAITING and key < key_of(before, number) and late.count(key[0]) < before.most
        for key, their in rest
    )
    if sum(their is Standing.ROLLING for _, their in rest) + ahead >= before.most:
        raise BrokenError(OVERTAKEN)


def arrived(world: World, number: int) -> World:
    """Its pods got ready, and the old ones are gone: the operator finds it at rest, or edited meanwhile."""
    engine = world.engines[number]
    if engine is None or not engine.is_rolling or engine.is_stuck:
        return world
    wanted = Wanted(engine.spec, world.engine_class)
    settled = wanted if engine.made_from == wanted else engine.settled
    return replaced(world, number, engine._replace(is_rolling=False, cause="", settled=settled))


def replaced(world: World, number: int, engine: Engine | None) -> World:
    return world._replace(engines=(*world.engines[:number], engine, *world.engines[number + 1 :]))


def after(world: World) -> Iterator[World]:
    if world.class_edits:
        yield world._replace(engine_class=world.engine_class + 1, class_edits=world.class_edits - 1)
    yield a_minute_later(world)
    yield half_an_hour_later(world)
    for number, engine in enumerate(world.engines):
        if engine is None:
            continue
        yield step(world, number)
        yield arrived(world, number)
        if world.edits:  # by a person, a park or a wake: all of them change the spec
            edited = engine._replace(spec=engine.spec + 1)
            yield replaced(world, number, edited)._replace(edits=world.edits - 1)
        if world.deletions:
            yield replaced(world, number, None)._replace(deletions=world.deletions - 1)
        if world.troubles:
            yield replaced(world, number, engine._replace(is_stuck=True))._replace(troubles=world.troubles - 1)
            yield replaced(world, number, engine._replace(is_blocked=True))._replace(troubles=world.troubles - 1)
            yield replaced(world, number, engine._replace(is_refused=True))._replace(troubles=world.troubles - 1)


@dataclass(slots=True)
class RollingSearch:
    start: World
    seen: set[World] = field(default_factory=set[World])

    def run(self) -> None:
        waiting = deque([self.start])
        self.seen.add(self.start)
        while waiting:
            for each in after(waiting.popleft()):
                if each not in self.seen:
                    self.seen.add(each)
                    waiting.append(each)

    def check_rest(self) -> None:
        """Once what was in trouble is mended, everybody arrives; and until then everybody else does, or says Queued."""
        for world in self.seen:
            follow(mended(world))
            follow(with_writes_that_fail(world))

    def check_neighbours(self) -> None:
        """Whatever never arrives in one namespace, everybody in the others does."""
        for world in self.seen:
            for namespace in set(world.namespaces):
                follow(with_a_bad_neighbour(world, namespace), without=namespace)


def with_a_bad_neighbour(world: World, namespace: str) -> World:
    """All of its engines get stuck from now on; all else is well."""
    return world._replace(
        engines=tuple(
            each and each._replace(is_stuck=key_of(world, number)[0] == namespace, is_blocked=False, is_refused=False)
            for number, each in enumerate(world.engines)
        )
    )


def mended(world: World) -> World:
    return world._replace(
        engines=tuple(
            each and each._replace(is_stuck=False, is_blocked=False, is_refused=False, is_overdue=False, is_late=False)
            for each in world.engines
        )
    )


def with_writes_that_fail(world: World) -> World:
    """All else is well. Of those that roll: a place that was taken is kept, whoever has it."""
    return world._replace(
        engines=tuple(
            each and each._replace(is_stuck=False, is_blocked=False, is_refused=each.is_refused and not each.is_rolling)
            for each in world.engines
        )
    )


def follow(world: World, without: str = "") -> None:
    awaited = [number for number in range(len(world.engines)) if key_of(world, number)[0] != without]
    for _ in range(6 * len(world.engines)):
        for number in range(len(world.engines)):
            world = arrived(step(world, number), number)
        world = half_an_hour_later(a_minute_later(world))
        left = [world.engines[number] for number in awaited]
        if all(each is None or each.is_refused or is_at_rest(each, world) for each in left):
            return
    raise BrokenError(f"{STUCK}: {world}")


def is_at_rest(engine: Engine, world: World) -> bool:
    wanted = Wanted(engine.spec, world.engine_class)
    return engine.made_from == wanted and not engine.is_rolling and not engine.is_queued
