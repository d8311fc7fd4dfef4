"""Carries the auto-stop decision out: looks at the pods, changes spec.replicas, and says so in the status.

The replicas are written before the status, under the version that the pass read: a person's edit wins, and a crash in
between leaves a wake that the next pass recognises as handled, because the engine then has nodes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.duration_fields import malformed_durations
from firebolt_operator.api.engine import EngineSpec, EngineStatus, FireboltEngine
from firebolt_operator.api.engine_settings import MOST_REPLICAS, AutoStop
from firebolt_operator.api.names import AutoStopReason, EnginePhase, EventReason
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.api.texts import shortened
from firebolt_operator.api.time_zones import time_zone
from firebolt_operator.engine.answers import Activity, Answers
from firebolt_operator.engine.decide.autostop import (
    ANSWER_LIFETIME,
    CLOCK_TOLERANCE,
    Decision,
    Observation,
    Policy,
    decide_autostop,
    parse_wake_request,
)
from firebolt_operator.engine.decide.news import resized
from firebolt_operator.engine.inherited_settings import effective_auto_stop, idle_timeout, poll_interval
from firebolt_operator.engine.inputs import ClassInfo
from firebolt_operator.engine.views import PodView
from firebolt_operator.look_again import WHEN_CHANGED, After, LookAgain
from firebolt_operator.reconciling.patches import Patcher, patch_as_read
from firebolt_operator.refs import News, Ref, Warn

TERMINAL = frozenset({EnginePhase.STABLE, EnginePhase.STOPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """What came of it."""

    engine: FireboltEngine  # as it is stored now
    status: EngineStatus  # to be written
    look_again: LookAgain = WHEN_CHANGED
    poll_interval: timedelta | None = None  # how often pods are to be asked; None: not at all
    warnings: tuple[Warn, ...] = ()
    news: tuple[News, ...] = ()  # true already: the number of nodes is stored


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaAdjuster:
    """Keeps one engine at the size that its policy wants."""

    engine: FireboltEngine
    spec: EngineSpec
    engine_class: ClassInfo | None
    pods: Sequence[PodView]  # of the active generation, as far as they run
    answers: Answers | None  # of pods of this engine, whenever they were asked
    writer: Patcher
    now: datetime
    most_replicas: int = MOST_REPLICAS

    async def adjust(self, status: EngineStatus) -> Adjustment:
        """`status` is the one that this pass is about to write."""
        settings = self._settings()
        if settings is None or not settings.enabled:
            off = msgspec.structs.replace(status, auto_stop_reason=AutoStopReason.DISABLED, last_activity_time=None)
            return Adjustment(engine=self.engine, status=off)
        if status.phase not in TERMINAL:
            # A rollout is under way: two writers must not fight over the number of nodes.
            return Adjustment(engine=self.engine, status=self._heard(status, self.spec.replicas))
        policy = Policy(
            settings=settings,
            idle_timeout=idle_timeout(settings),
            poll_interval=poll_interval(settings),
            zone=None if malformed_durations(settings) else time_zone(settings.time_zone),
        )
        return await self._decide(policy, self._refreshed(status))

    def _settings(self) -> AutoStop | None:
        """Never more nodes than an engine may have: what is asked for beyond that is told elsewhere."""
        settings = effective_auto_stop(self.spec, self.engine_class)
        return settings and msgspec.structs.replace(
            settings,
            active_replicas=min(settings.active_replicas, self.most_replicas),
            idle_replicas=min(settings.idle_replicas, self.most_replicas),
        )

    def _refreshed(self, status: EngineStatus) -> EngineStatus:
        """An engine that has just come up gets its whole idle timeout."""
        has_come_up = status.phase == EnginePhase.STABLE and self.engine.status.phase != EnginePhase.STABLE
        return msgspec.structs.replace(status, last_activity_time=self.now) if has_come_up else status

    async def _decide(self, policy: Policy, status: EngineStatus) -> Adjustment:
        seen = self._seen(status)
        decision = decide_autostop(policy, seen, now=self.now)
        engine = await self._resize(decision)
        described = _described(status, decision, seen, self.now)
        return Adjustment(
            engine=engine,
            status=self._heard(described, max(seen.replicas, decision.replicas)),
            look_again=After(policy.poll_interval),
            poll_interval=policy.poll_interval if self.spec.replicas and self.pods else None,
            warnings=() if time_zone(policy.settings.time_zone) else (_unknown_zone(policy.settings.time_zone),),
            news=resized(decision, seen.replicas),
        )

    def _heard(self, status: EngineStatus, replicas: int) -> EngineStatus:
        """Whoever asks while the engine has nodes, or is given some, has been heard: that wakes it no second time."""
        requested = self._wake_requested_at() if replicas else None
        if requested is None or (status.wake_handled_at is not None and requested <= status.wake_handled_at):
            return status
        return msgspec.structs.replace(status, wake_handled_at=requested)

    def _wake_requested_at(self) -> datetime | None:
        requested = parse_wake_request(self.engine.metadata.annotations.get(names.ANNOTATION_WAKE_REQUESTED))
        # A clock that runs far ahead must not pin an engine: such a request counts as none.
        return None if requested is None or requested > self.now + CLOCK_TOLERANCE else requested

    def _seen(self, status: EngineStatus) -> Observation:
        looked_at = self._looked_at()
        return Observation(
            replicas=self.spec.replicas,
            last_activity_at=status.last_activity_time,
            wake_requested_at=self._wake_requested_at(),
            wake_handled_at=status.wake_handled_at,
            active_queries=self._active_queries() if looked_at else None,
            idle_since=self._idle_since(looked_at),
            looked_at=looked_at,
            reason=status.auto_stop_reason,
        )

    def _looked_at(self) -> datetime | None:
        """When all of these pods were asked; without any pod, one look at them is as good as another."""
        if not self.spec.replicas or not self.pods:
            return self.now if self.spec.replicas else None
        if self.answers is None or self.answers.of(self.pods) is None or self.answers.asked_at > self.now:
            return None
        if self._active_queries() == 0 and self.now - self.answers.asked_at > ANSWER_LIFETIME:
            return None
        # Whole seconds, as the status keeps them: the same answer is news only once.
        return self.answers.asked_at.replace(microsecond=0)

    def _active_queries(self) -> int | None:
        """None when any pod cannot be asked, or none runs: a lost probe looks like activity, never like idleness."""
        told = (self.answers.of(self.pods) if self.answers else None) or []
        known = [answer for answer in told if isinstance(answer, Activity)]
        if not known or len(known) != len(self.pods) or _tells_nonsense(known):
            return None
        return sum(answer.running + answer.suspended for answer in known)

    def _idle_since(self, looked_at: datetime | None) -> datetime | None:
        """By the pod that was idle for the shortest time; work between two looks is seen by this alone."""
        told = (self.answers.of(self.pods) if self.answers else None) or []
        idle = [each.idle_seconds for each in told if isinstance(each, Activity) and each.idle_seconds is not None]
        if looked_at is None or not idle or len(idle) != len(self.pods) or any(map(math.isnan, idle)):
            return None
        return (looked_at - timedelta(seconds=min(idle))).replace(microsecond=0)

    async def _resize(self, decision: Decision) -> FireboltEngine:
        metadata = self.engine.metadata
        if decision.replicas == self.spec.replicas:
            return self.engine
        ref = Ref(FIREBOLT_ENGINES, metadata.namespace, metadata.name)
        stored = await patch_as_read(ref, metadata, {"spec": {"replicas": decision.replicas}}, self.writer)
        # The status that the pass started from stays the measure of what is news.
        return msgspec.structs.replace(parse_engine(stored), status=self.engine.status)


def _described(status: EngineStatus, decision: Decision, seen: Observation, now: datetime) -> EngineStatus:
    is_scaled = decision.replicas != seen.replicas
    return msgspec.structs.replace(
        status,
        auto_stop_reason=decision.reason,
        last_activity_time=(
            _active_at(status, seen, now) if decision.is_activity else decision.active_at or status.last_activity_time
        ),
        last_scaled_at=now if is_scaled else status.last_scaled_at,
    )


def _active_at(status: EngineStatus, seen: Observation, now: datetime) -> datetime:
    """As of the look that showed it, but never back: an engine that has just come up gets its whole idle timeout."""
    active_at, before = seen.looked_at or now, status.last_activity_time
    return active_at if before is None else max(active_at, before)


def _tells_nonsense(known: Sequence[Activity]) -> bool:
    """Where every pod tells its idle time, one that tells none that can be is taken for busy; else nobody reads it."""
    idle = [each.idle_seconds for each in known]
    return None not in idle and any(each is not None and math.isnan(each) for each in idle)


def _unknown_zone(name: str) -> Warn:
    what = f"{shortened(name)!r} is no time zone"
    note = f"spec.autoStop.timeZone: {what}; the engine is woken, but neither parked nor scheduled"
    return Warn(reason=EventReason.UNKNOWN_TIME_ZONE, action="Reconcile", note=note)
