"""One engine between its gateway's agent and its operator, as a small immutable value.

Instants are ages in ticks of two and a half minutes, and two ticks are as old as anything can matter: a wake request
lives for two, and so long does an engine idle before it is parked. Time therefore goes on for ever in a finite world.
"""

from datetime import datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.api.engine_settings import AutoStop
from firebolt_operator.api.serialise import format_time
from tests.support.engines import NOON, a_spec, a_status, an_engine

TICK: Final = timedelta(seconds=150)
OLDEST: Final = 2
AHEAD: Final = -1  # from a clock that runs a tick ahead
NONSENSE: Final = 9  # no time at all
ROLLING: Final = "creating"
SIZES: Final = (0, 1, 2)  # parked, as the policy has it, as a person has it
POLICY: Final = AutoStop(enabled=True, active_replicas=1, idle_replicas=0, idle_timeout="5m", poll_interval="1m")

Age = int | None


class Status(NamedTuple):
    phase: str
    size: int  # nodes of the generation that serves
    activity: Age
    handled: Age


class Engine(NamedTuple):
    request: Age  # the annotation: an age, AHEAD or NONSENSE
    replicas: int
    status: Status


class Agent(NamedTuple):
    """What it holds in memory; all of it is gone when it restarts."""

    sees_endpoints: bool = False
    is_routed: bool = False  # Envoy knows them
    holds: bool = False  # whether a query waits
    asked: Age = None  # None: it has no demand on its books
    is_owed: bool = False
    is_due: bool = False
    flight: Age = None  # the stamp of a patch that is under way
    is_forgotten: bool = False
    is_new: bool = False


class World(NamedTuple):
    truth: Engine
    seen: Engine  # as the operator's cache has it
    agent: Agent
    up: Age  # since when the engine serves
    is_used: bool  # the request that the engine carries has woken it once, or was seen while it ran
    edits_left: int
    strangers_left: int


def initial(replicas: int, *, edits: int, strangers: int) -> World:
    """`strangers` are requests that no agent of ours made: of another gateway, or of somebody hostile."""
    phase = "stable" if replicas else "stopped"
    engine = Engine(None, replicas, Status(phase, replicas, None, None))
    agent = Agent(sees_endpoints=replicas > 0, is_routed=replicas > 0)
    return World(engine, engine, agent, 0 if replicas else None, False, edits, strangers)


def later(world: World) -> World:
    """A tick passes for everybody."""
    agent = world.agent._replace(asked=_older(world.agent.asked), flight=_older(world.agent.flight), is_due=True)
    return world._replace(
        truth=_aged(world.truth),
        seen=_aged(world.seen),
        agent=agent if agent.asked is not None else agent._replace(is_due=False),
        up=_older(world.up),
    )


@cache
def _aged(engine: Engine) -> Engine:
    status = engine.status._replace(activity=_older(engine.status.activity), handled=_older(engine.status.handled))
    return engine._replace(request=_older(engine.request), status=status)


def _older(age: Age) -> Age:
    return age if age is None or age == NONSENSE else min(age + 1, OLDEST)


# Between ages and what the operator reads and writes


def instant(age: Age) -> datetime | None:
    return None if age is None else NOON - age * TICK


def age_of(at: datetime | None) -> Age:
    return None if at is None else min(round((NOON - at) / TICK), OLDEST)


def as_object(engine: Engine, reason: str = "") -> FireboltEngine:
    text = "soon" if engine.request == NONSENSE else None
    if text is None and (at := instant(engine.request)) is not None:
        text = format_time(at)
    made = an_engine(spec=a_spec(replicas=engine.replicas, auto_stop=POLICY), status=as_status(engine.status, reason))
    notes = {names.ANNOTATION_WAKE_REQUESTED: text} if text else {}
    return msgspec.structs.replace(made, metadata=msgspec.structs.replace(made.metadata, annotations=notes))


def as_status(status: Status, reason: str = "") -> EngineStatus:
    return a_status(
        phase=status.phase,
        replicas=status.size,
        last_activity_time=instant(status.activity),
        wake_handled_at=instant(status.handled),
        auto_stop_reason=reason,
    )


def from_status(status: EngineStatus) -> Status:
    return Status(status.phase, status.replicas, age_of(status.last_activity_time), age_of(status.wake_handled_at))
