"""Runs the operator's own auto-stop step and status write on an engine, and says what they wrote.

The rollout around it is reduced to three phases: it takes as many passes as it likes.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgspec

from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.engine.act.replicas import Adjustment, ReplicaAdjuster
from firebolt_operator.engine.act.status import StatusWriter
from firebolt_operator.engine.answers import Activity, Answers, pod_key
from firebolt_operator.errors import ConflictError, OperatorError
from firebolt_operator.refs import Manifest, Ref
from tests.model.wake_world import ROLLING, Engine, Status, as_object, as_status, from_status
from tests.support.engines import NOON, a_pod
from tests.support.manual_clock import ManualClock

if TYPE_CHECKING:
    from firebolt_operator.kube.ports import Reader, Writer

QUIET: Final = "quiet"
BUSY: Final = "busy"
SCRAPE_FAILED: Final = "scrape failed"
UNKNOWN: Final = "not asked yet"
ANSWERS: Final = (QUIET, BUSY, SCRAPE_FAILED, UNKNOWN)


class Look(NamedTuple):
    """All that one pass can find."""

    seen: Engine
    truth: Engine  # what the API server holds meanwhile
    answer: str  # of the pods
    is_rolled: bool  # whether a rollout under way is found to be done


class Write(NamedTuple):
    """Either the nodes or the status."""

    replicas: int | None = None
    status: Status | None = None


class Pass(NamedTuple):
    writes: tuple[Write, ...]
    reason: str  # of the decision; empty while rolling
    is_polled: bool
    has_failed: bool


@dataclass
class OneEngineServer:
    """Takes a write under the version that the pass read, if nobody wrote since."""

    look: Look
    reason: str = ""  # as stored
    writes: list[Write] = field(default_factory=list[Write])
    is_current: bool = False

    def __post_init__(self) -> None:
        self.is_current = self.look.seen == self.look.truth

    async def merge_patch(self, ref: Ref, patch: Mapping[str, Any], /) -> Manifest:
        del ref
        if not self.is_current and "resourceVersion" in patch.get("metadata", {}):
            raise ConflictError("somebody was quicker")
        self.writes.append(Write(replicas=patch["spec"]["replicas"]))
        return self._stored(replicas=patch["spec"]["replicas"])

    async def update_status(self, manifest: Manifest, /) -> Manifest:
        if not self.is_current:
            raise ConflictError("somebody was quicker")
        status = msgspec.convert(manifest["status"], EngineStatus)
        self.writes.append(Write(status=from_status(status)))
        return self._stored(replicas=self.look.truth.replicas)

    async def get(self, ref: Ref, /) -> Manifest:
        del ref
        self.is_current = True
        return self._stored(replicas=self.look.truth.replicas)

    def _stored(self, *, replicas: int) -> Manifest:
        stored: Manifest = msgspec.json.decode(
            msgspec.json.encode(as_object(self.look.truth._replace(replicas=replicas), self.reason))
        )
        return stored


class Passes:
    """Same look, same pass: each is run once."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._known: dict[Look, Pass] = {}

    def close(self) -> None:
        self._loop.close()

    def __len__(self) -> int:
        return len(self._known)

    def run(self, look: Look) -> Pass:
        if look not in self._known:
            self._known[look] = self._loop.run_until_complete(_pass(look))
        return self._known[look]


async def _pass(look: Look) -> Pass:
    # A reason alone is no news here: decisions do not read it, and it would multiply the states.
    reason = await _reason(look)
    server, engine = OneEngineServer(look, reason), as_object(look.seen, reason)
    plan = as_status(next_phase(look), reason)
    try:
        adjusted = await _adjuster(server, engine).adjust(plan)
        status, stored = adjusted.status, adjusted.engine
        has_failed = False
    except OperatorError:
        # As in a whole pass: what was true before the nodes could not be written is told all the same.
        adjusted, status, stored, has_failed = Adjustment(engine=engine, status=plan), plan, engine, True
    try:
        await StatusWriter(cast("Reader", server), cast("Writer", server), ManualClock()).write(stored, status)
    except OperatorError:
        has_failed = True
    is_polled = adjusted.poll_interval is not None
    return Pass(tuple(server.writes), adjusted.status.auto_stop_reason, is_polled, has_failed)


async def _reason(look: Look) -> str:
    """What the decision will say; empty if there is none."""
    server, status = OneEngineServer(look), as_status(next_phase(look))
    try:
        return (await _adjuster(server, as_object(look.seen)).adjust(status)).status.auto_stop_reason
    except OperatorError:
        return ""


def _adjuster(server: OneEngineServer, engine: FireboltEngine) -> ReplicaAdjuster:
    spec = engine.spec
    assert spec is not None
    pods = [a_pod(f"eng-g0-{index}") for index in range(spec.replicas)]
    said: dict[str, Activity | str] = {QUIET: Activity(0, 0), BUSY: Activity(1, 0), SCRAPE_FAILED: "does not answer"}
    told = {} if server.look.answer == UNKNOWN else {pod_key(pod): said[server.look.answer] for pod in pods}
    answers = Answers(asked_at=NOON, told=told)
    return ReplicaAdjuster(
        engine=engine, spec=spec, engine_class=None, pods=pods, answers=answers, writer=server, now=NOON
    )


def next_phase(look: Look) -> Status:
    """A change of the nodes rolls; a rollout that is done leaves the engine at its new size."""
    seen, status = look.seen, look.seen.status
    if status.phase != ROLLING:
        return status if status.size == seen.replicas else status._replace(phase=ROLLING)
    if not look.is_rolled:
        return status
    return status._replace(phase="stable" if seen.replicas else "stopped", size=seen.replicas)
