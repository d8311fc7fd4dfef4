"""The phase machine: what an engine does next, decided from its spec, its status and what was seen. Pure.

Every transition is persisted before its effect, and every effect can be repeated: a process may die between any two
writes and the next one continues from what it finds.
"""

from dataclasses import replace
from datetime import datetime, timedelta

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineSpec, EngineStatus
from firebolt_operator.api.names import EnginePhase
from firebolt_operator.api.resources import CONFIG_MAPS, SERVICES, STATEFULSETS
from firebolt_operator.api.serialise import format_time
from firebolt_operator.engine.decide.applied_preset import with_applied_preset
from firebolt_operator.engine.decide.draining import (
    Drained,
    KeepWaiting,
    TimedOut,
    decide_drain,
    effective_settle,
    settle_left,
)
from firebolt_operator.engine.decide.listener import (
    awaited_certificate,
    is_certificate_taken,
    is_secret_planted,
    served_certificate,
    why_renewed,
)
from firebolt_operator.engine.decide.losses import is_lost, is_taken, lacks_pods
from firebolt_operator.engine.decide.news import drained
from firebolt_operator.engine.decide.recovery import back_to_creating, decide_lost, lost_objects
from firebolt_operator.engine.decide.routing import service_repair, serving_generation
from firebolt_operator.engine.decide.situation import Situation
from firebolt_operator.engine.decide.update_strategy import update_strategy_patches
from firebolt_operator.engine.facts import GenerationFacts
from firebolt_operator.engine.plan import AT_ONCE, PODS_WAIT, URGENTLY, Delete, Plan
from firebolt_operator.engine.views import Child
from firebolt_operator.look_again import After, LookAgain
from firebolt_operator.refs import Manifest, Warn

REST = After(timedelta(seconds=30))
ASK_AROUND = After(timedelta(seconds=2))  # until the others, who are looked at meanwhile, have said that they wait too


def decide_phase(situation: Situation) -> Plan:
    plan = _decide(situation)
    doomed = {delete.child.metadata.uid for delete in plan.deletes}
    patches = update_strategy_patches(situation.facts, situation.uid)
    service = _service_ensures(situation)
    # What serves already is led to before all else, which may be refused; what is about to serve is made first.
    is_first = situation.status.active_generation >= 0
    return replace(
        plan,
        ensures=(*service, *plan.ensures) if is_first else (*plan.ensures, *service),
        patches=tuple(each for each in patches if each.child.metadata.uid not in doomed),
    )


def _service_ensures(situation: Situation) -> tuple[Manifest, ...]:
    """In every phase but `switching`, which moves it, the Service goes on selecting what has served so far."""
    if situation.status.phase == EnginePhase.SWITCHING:
        return ()
    return service_repair(situation.facts.service, situation.blueprint, serving_generation(situation.status))


def _decide(situation: Situation) -> Plan:
    match situation.status.phase:
        case EnginePhase.CREATING:
            return _decide_creating(situation)
        case EnginePhase.SWITCHING:
            return _decide_switching(situation)
        case EnginePhase.DRAINING:
            return _decide_draining(situation)
        case EnginePhase.CLEANING:
            return _decide_cleaning(situation)
        case EnginePhase.STABLE | EnginePhase.STOPPED | EnginePhase.UNSET:
            return _decide_terminal(situation)
        case unknown:
            return _finish(situation, f"phase {unknown!r} is not one of ours", AT_ONCE)


def terminal_phase(spec: EngineSpec) -> EnginePhase:
    return EnginePhase.STOPPED if spec.replicas == 0 else EnginePhase.STABLE


def _decide_terminal(situation: Situation) -> Plan:
    status, current = situation.status, situation.facts.current
    if status.active_generation < 0:
        raise RuntimeError(f"phase {status.phase!r} without an active generation: {status}")
    why = _why_new_generation(situation, current)
    if why is not None:
        # The number is persisted before any object of that generation exists, so no crash can leave objects behind
        # that the status has not heard of.
        must_wait = _must_wait(situation)
        return _queue(situation, why) if must_wait else _start_generation(situation, why, deletes=())
    return Plan(
        reason="at rest",
        status=_noted_origin(situation, _settled(situation)),
        look_again=REST,
        ensures=_missing_children(situation),
        is_at_rest=True,
    )


def _must_wait(situation: Situation) -> bool:
    """First it says that it waits, so that all who do are known, and the first of them by name goes first."""
    current, turn = situation.facts.current, situation.turn
    if not turn.cause or is_lost(current, situation.uid) or is_taken(current, situation.uid):
        return False
    return situation.status.rollout_cause != turn.cause or not turn.has_room


def _queue(situation: Situation, why: str) -> Plan:
    cause = situation.turn.cause
    is_known = situation.status.rollout_cause == cause
    return Plan(
        reason=f"waits for its turn to roll: {why}",
        status=msgspec.structs.replace(situation.status, rollout_cause=cause),
        look_again=REST if is_known else ASK_AROUND,
        ensures=_missing_children(situation),
        queued=f"waits for its turn among the engines that roll because of {cause}; what runs goes on serving",
    )


def _why_new_generation(situation: Situation, current: GenerationFacts) -> str | None:
    if current.statefulset is None or current.statefulset.metadata.is_deleting:
        return "the StatefulSet is gone"
    if is_taken(current, situation.uid):
        return "its name is taken by another owner"
    return _drift(situation, current.statefulset)


def _drift(situation: Situation, statefulset: Child) -> str | None:
    """Pods read their certificate when they start, so another one is as good as another template."""
    drift = situation.blueprint.drift(statefulset)
    return drift or why_renewed(situation.status, statefulset, situation.listener)


def _missing_children(situation: Situation) -> tuple[Manifest, ...]:
    """Restored in place: pods read them only when they start, and all follow from name and generation alone."""
    current, blueprint, active = situation.facts.current, situation.blueprint, situation.status.active_generation
    listener = situation.listener
    # Without it nobody renews what the pods serve. The Secret is still there, so nothing is issued for it now.
    has_certificate = listener is None or listener.certificate is not None or not listener.has_cert_manager
    missing = [
        *(() if has_certificate else blueprint.certificates(active)),
        *([] if current.config_map else [blueprint.config_map(active)]),
        *([] if current.headless_service else [blueprint.headless_service(active)]),
    ]
    return tuple(missing)


def _settled(situation: Situation) -> EngineStatus:
    statefulset = situation.facts.current.statefulset
    annotations = {} if statefulset is None else statefulset.metadata.annotations
    served = served_certificate(situation.status, statefulset, situation.listener)
    return msgspec.structs.replace(
        with_applied_preset(situation.status, statefulset),
        phase=terminal_phase(situation.spec),
        observed_auth_hash=annotations.get(names.ANNOTATION_AUTH_HASH, ""),
        observed_engine_tls_hash=annotations.get(names.ANNOTATION_ENGINE_TLS_HASH, ""),
        observed_engine_serving_cert_fp=served.fingerprint,
        observed_engine_serving_cert_gen=served.generation,
        rollout_cause="",
    )


def _decide_creating(situation: Situation) -> Plan:
    current = situation.facts.current
    if is_taken(current, situation.uid) or _is_listener_taken(situation):
        return _start_generation(situation, "the name is taken by another owner", deletes=())
    if current.statefulset is not None:
        drift = _drift(situation, current.statefulset)
        if drift is not None:
            # Before readiness: pods are counted against the latest replicas, and a doomed generation that still has
            # the old count would never become ready. Never patched: running pods do not read their nodes again.
            return _abandon(situation, current, drift)
        if current.statefulset.metadata.is_deleting:
            return _keep(situation, "the StatefulSet is going away and will be made again", PODS_WAIT)
    wait = _arrival_wait(situation, current)
    if wait is not None:
        return wait
    status = msgspec.structs.replace(situation.status, phase=EnginePhase.SWITCHING)
    ensures = _generation_ensures(situation)
    return Plan(reason="all pods are ready", status=status, look_again=URGENTLY, ensures=ensures)


def _is_listener_taken(situation: Situation) -> bool:
    listener, is_made = situation.listener, situation.facts.current.statefulset is not None
    return is_certificate_taken(listener, situation.uid) or (not is_made and is_secret_planted(listener))


def _arrival_wait(situation: Situation, current: GenerationFacts) -> Plan | None:
    """What keeps a generation from taking queries, in the order in which it comes."""
    ensures, listener = _generation_ensures(situation), situation.listener
    issue = awaited_certificate(listener) if current.statefulset is None else ""
    if issue:
        return _keep(situation, issue, REST, ensures, waiting_for=issue)
    if not _is_ready(situation, current):
        progress = f"{current.pods.ready} of {situation.spec.replicas} ready"
        return _keep(situation, f"waiting for pods, {progress}", PODS_WAIT, ensures)
    if listener is not None and listener.untrusted:
        # Every query would be refused: the generation before goes on serving.
        return _keep(situation, listener.untrusted, PODS_WAIT, ensures, waiting_for=listener.untrusted)
    return None


def _abandon(situation: Situation, current: GenerationFacts, drift: str) -> Plan:
    """Before the first switch the Service leads to whoever is ready: such a generation serves, and is drained."""
    plan = _start_generation(situation, f"abandoned, {drift}", deletes=_generation_deletes(situation, current))
    is_reached = situation.status.active_generation < 0 and current.pods.ready > 0
    if not is_reached or is_lost(current, situation.uid):
        return plan
    serves = msgspec.structs.replace(plan.status, active_generation=situation.status.current_generation)
    return replace(plan, status=serves, deletes=())


def _is_ready(situation: Situation, current: GenerationFacts) -> bool:
    wanted = situation.spec.replicas
    return current.statefulset is not None and current.pods.total == wanted and current.pods.ready == wanted


def _generation_ensures(situation: Situation) -> tuple[Manifest, ...]:
    generation, blueprint, listener = situation.status.current_generation, situation.blueprint, situation.listener
    # First of all: it takes cert-manager a while.
    certificates = () if listener is None or not listener.has_cert_manager else blueprint.certificates(generation)
    wanted = [*certificates, blueprint.config_map(generation), blueprint.headless_service(generation)]
    if situation.facts.current.statefulset is None and not awaited_certificate(listener):
        # One that is there matches, or it would have been abandoned: it is never patched. Nor is one made before its
        # certificate: which one its pods read is written on it.
        wanted.append(blueprint.statefulset(generation))
    return tuple(wanted)


def _decide_switching(situation: Situation) -> Plan:
    status, facts = situation.status, situation.facts
    current, replicas = facts.current, situation.spec.replicas
    repair = service_repair(facts.service, situation.blueprint, status.current_generation)
    # Pods that queries are sent to already may run some, ready or not: nobody is led away from those.
    if is_lost(current, situation.uid) or (repair and lacks_pods(current, replicas, situation.uid)):
        return back_to_creating(situation)
    if repair:
        return _keep(situation, "pointing queries at the new generation", AT_ONCE, repair)
    # The selector that the server holds is believed, not what this process remembers to have written.
    old = status.active_generation
    noted = _noted(situation.now)
    switched = msgspec.structs.replace(status, active_generation=status.current_generation, switched_at=noted)
    switched = with_applied_preset(switched, current.statefulset)
    if old < 0 or old == status.current_generation:
        return _arrived(situation, switched, "first generation serves")
    phase = EnginePhase.CLEANING if situation.drain.is_skipped else EnginePhase.DRAINING
    rolled = msgspec.structs.replace(switched, phase=phase, draining_generation=old)
    swapped = replace(situation.facts, active=situation.facts.current, draining=situation.facts.active)
    left = settle_left(rolled, swapped, situation.drain, situation.now)
    return Plan(
        reason="new generation serves",
        status=rolled,
        look_again=AT_ONCE,
        waiting_for="" if situation.drain.is_skipped else _until(situation.now, left),
    )


def _noted(instant: datetime) -> datetime:
    """The status keeps whole seconds: rounded up, or a wait counted from it would end up to a second early."""
    return instant if not instant.microsecond else instant.replace(microsecond=0) + timedelta(seconds=1)


def _until(now: datetime, left: timedelta) -> str:
    return f"old generation stays until {format_time(now + left)}" if left else ""


def _decide_draining(situation: Situation) -> Plan:
    status, now = situation.status, situation.now
    if status.draining_generation is None:
        return _finish(situation, "nothing drains", AT_ONCE)
    if status.switched_at is None or status.switched_at > _noted(now):
        # Lost or from a clock that ran ahead: waiting starts over, so that it is never too short.
        status = msgspec.structs.replace(status, switched_at=_noted(now))
    lost = decide_lost(situation, status)
    if lost is not None:
        return lost
    cleaning = msgspec.structs.replace(status, phase=EnginePhase.CLEANING)
    restored = lost_objects(situation)
    match decide_drain(status, situation.facts, situation.drain, now):
        case Drained(reason):
            news = (drained(status.draining_generation, reason),)
            return Plan(reason=reason, status=cleaning, look_again=AT_ONCE, ensures=restored, news=news)
        case TimedOut(after, is_settled):
            note = _timeout_note(status, after, is_settled=is_settled)
            warning = Warn(reason=names.EventReason.DRAIN_TIMEOUT, action="Draining", note=note)
            return Plan(reason=note, status=cleaning, look_again=AT_ONCE, ensures=restored, warnings=(warning,))
        case KeepWaiting(wait, until):
            waiting_for = _drains_until(situation, until)
            return Plan(
                reason=waiting_for or "waiting for an answer of the old pods",
                status=status,
                look_again=After(wait),
                ensures=restored,
                waiting_for=waiting_for,
            )


def _drains_until(situation: Situation, until: datetime | None) -> str:
    """What was said before stays while pods are asked for the first time: most are idle, and go a moment later."""
    status, rules = situation.status, situation.drain
    if until is None and situation.facts.drain is not None:
        return f"generation {status.draining_generation} still runs queries"
    if until is None and status.switched_at is not None:
        until = status.switched_at + effective_settle(situation.facts, rules) if rules.settle else None
    return f"old generation stays until {format_time(until)}" if until else ""


def _timeout_note(status: EngineStatus, after: timedelta, *, is_settled: bool) -> str:
    """Only what is known: within the settle time nobody has asked, and after it a pod may have given no answer."""
    ended = f"drainTimeout {after} ended the wait for generation {status.draining_generation}, which is deleted now"
    if is_settled:
        return f"{ended}: it still ran queries, or could not be asked, when it was last looked at"
    return f"{ended}: nobody asked whether it runs queries, because the time of --drain-settle had not passed yet"


def _decide_cleaning(situation: Situation) -> Plan:
    if situation.status.draining_generation is None:
        return _finish(situation, "nothing to clean", AT_ONCE)
    deletes = _generation_deletes(situation, situation.facts.draining)
    status = msgspec.structs.replace(situation.status, draining_generation=None)
    return _arrived(situation, status, "deleting the old generation", deletes)


def is_arriving(status: EngineStatus) -> bool:
    """The next status may be the last one of this rollout: whether it is takes a look at the spec."""
    has_no_former = status.active_generation < 0 or status.active_generation == status.current_generation
    return status.phase == EnginePhase.CLEANING or (status.phase == EnginePhase.SWITCHING and has_no_former)


def _arrived(situation: Situation, status: EngineStatus, reason: str, deletes: tuple[Delete, ...] = ()) -> Plan:
    """Compared with the spec right away: it is told only once that the engine has come to rest."""
    done = _settled(replace(situation, status=status))
    is_at_rest = not situation.unresolved and _is_as_asked(situation)
    status = _noted_origin(situation, done) if is_at_rest else done
    return Plan(reason=reason, status=status, look_again=AT_ONCE, deletes=deletes, is_at_rest=is_at_rest)


def _noted_origin(situation: Situation, status: EngineStatus) -> EngineStatus:
    return situation.origin.status_at_rest(status) if situation.origin else status


def _is_as_asked(situation: Situation) -> bool:
    try:
        return _why_new_generation(situation, situation.facts.current) is None
    except RecursionError:
        return False  # a spec that cannot be rendered keeps no rollout from its end; the next pass tells of it


def _generation_deletes(situation: Situation, generation: GenerationFacts) -> tuple[Delete, ...]:
    seen = (
        (STATEFULSETS, generation.statefulset),
        (SERVICES, generation.headless_service),
        (CONFIG_MAPS, generation.config_map),
    )
    return tuple(Delete(resource, child) for resource, child in seen if child and child.is_owned_by(situation.uid))


def _start_generation(situation: Situation, why: str, *, deletes: tuple[Delete, ...]) -> Plan:
    status = msgspec.structs.replace(
        situation.status,
        phase=EnginePhase.CREATING,
        current_generation=situation.status.current_generation + 1,
        rollout_cause=situation.turn.cause,
    )
    # Out of a stop somebody waits for its first pod; any other one replaces what serves, and has time.
    is_start = situation.status.phase == EnginePhase.STOPPED and situation.spec.replicas > 0
    look_again = URGENTLY if is_start else AT_ONCE
    return Plan(reason=f"new generation: {why}", status=status, look_again=look_again, deletes=deletes)


def _finish(situation: Situation, reason: str, look_again: LookAgain) -> Plan:
    status = msgspec.structs.replace(situation.status, phase=terminal_phase(situation.spec))
    return Plan(reason=reason, status=status, look_again=look_again)


def _keep(
    situation: Situation,
    reason: str,
    look_again: LookAgain,
    ensures: tuple[Manifest, ...] = (),
    *,
    waiting_for: str = "",
) -> Plan:
    return Plan(reason=reason, status=situation.status, look_again=look_again, ensures=ensures, waiting_for=waiting_for)
