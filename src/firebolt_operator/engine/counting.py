"""What autoscalers and `kubectl get` read: the pods of the generation that serves."""

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.engine.facts import EngineFacts, GenerationFacts


def active_facts(facts: EngineFacts, status: EngineStatus) -> GenerationFacts:
    """Of the generation that serves once this status is written."""
    return facts.current if status.active_generation == status.current_generation else facts.active


def counted(status: EngineStatus, facts: EngineFacts, engine: str) -> EngineStatus:
    if status.active_generation < 0:
        return msgspec.structs.replace(status, replicas=0, ready_replicas=0, selector="")
    pods = active_facts(facts, status).pods
    selector = f"{names.LABEL_ENGINE}={engine},{names.LABEL_GENERATION}={status.active_generation}"
    return msgspec.structs.replace(status, replicas=pods.total, ready_replicas=pods.ready, selector=selector)
