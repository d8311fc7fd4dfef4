"""What is true of an engine, in the words of its conditions."""

from datetime import datetime

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition, with_condition
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import EnginePhase, EngineReason
from firebolt_operator.engine.facts import EngineFacts, GenerationFacts
from firebolt_operator.reconciling.verdicts import Verdict

LASTING = frozenset({EngineReason.ENGINE_READY, EngineReason.STOPPED})


def with_verdict(
    status: EngineStatus, kind: str, verdict: Verdict, *, spec_generation: int, now: datetime
) -> EngineStatus:
    """The status speaks of that generation of the spec from now on."""
    condition = verdict.dated(kind, spec_generation=spec_generation, now=now)
    conditions = with_condition(status.conditions, condition)
    return msgspec.structs.replace(status, conditions=conditions, observed_generation=spec_generation)


def instance_ready() -> Verdict:
    return Verdict(status="True", reason=EngineReason.INSTANCE_READY, message="Referenced FireboltInstance is ready")


def instance_not_ready(message: str) -> Verdict:
    return Verdict(status="False", reason=EngineReason.INSTANCE_NOT_READY, message=message)


def ready_verdict(status: EngineStatus, facts: EngineFacts, replicas: int, waiting_for: str = "") -> Verdict:
    """`Ready`, first match wins: nothing downstream works without the instance; a stop is meant, not a failure."""
    instance = find_condition(status.conditions, names.CONDITION_INSTANCE_READY)
    if facts.drain is not None and facts.drain.problem:
        return _no(EngineReason.DRAIN_CHECK_FAILING, facts.drain.problem)
    if instance is None or not instance.is_true:
        return _no(EngineReason.INSTANCE_NOT_READY, "Referenced FireboltInstance is not ready")
    if status.phase == EnginePhase.STOPPED:
        return _no(EngineReason.STOPPED, "Engine is stopped (spec.replicas is 0)")
    pods = facts.current.pods
    if status.phase != EnginePhase.STABLE:
        words = waiting_for or (pods.trouble if status.phase == EnginePhase.CREATING else "")
        return _no(EngineReason.ROLLING, _with_detail(f"Engine is in {status.phase} phase", words))
    if not (pods.total == replicas and pods.ready == replicas):
        text = f"generation {status.active_generation} has {pods.ready} of {pods.total} pod(s) ready"
        return _no(EngineReason.PODS_NOT_READY, _with_detail(text, pods.trouble))
    text = f"Engine is serving traffic on generation {status.active_generation}"
    return Verdict(status="True", reason=EngineReason.ENGINE_READY, message=text)


def is_lasting(status: EngineStatus) -> bool:
    """Whether `Ready` stays as it is while nothing happens: of pods in trouble more is told the longer that lasts."""
    ready = find_condition(status.conditions, names.CONDITION_READY)
    return ready is not None and ready.reason in LASTING


def _with_detail(text: str, detail: str) -> str:
    return f"{text}; {detail}" if detail else text


def _no(reason: str, message: str) -> Verdict:
    return Verdict(status="False", reason=reason, message=message)


def active_facts(facts: EngineFacts, status: EngineStatus) -> GenerationFacts:
    """Of the generation that serves once this status is written."""
    return facts.current if status.active_generation == status.current_generation else facts.active


def counted(status: EngineStatus, facts: EngineFacts, engine: str) -> EngineStatus:
    if status.active_generation < 0:
        return msgspec.structs.replace(status, replicas=0, ready_replicas=0, selector="")
    pods = active_facts(facts, status).pods
    selector = f"{names.LABEL_ENGINE}={engine},{names.LABEL_GENERATION}={status.active_generation}"
    return msgspec.structs.replace(status, replicas=pods.total, ready_replicas=pods.ready, selector=selector)
