"""Why does a StatefulSet not get its pods? Its events tell; a diagnosis is welcome and never worth a failed pass."""

import logging
from datetime import datetime

from firebolt_operator.api.resources import CORE_EVENTS
from firebolt_operator.engine.conditions import Verdict
from firebolt_operator.engine.facts import EngineFacts
from firebolt_operator.engine.statefulset_warnings import doubting_verdict, is_worth_asking, refined_verdict
from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.ports import Reader, Scope

log = logging.getLogger(__name__)


async def diagnosed(verdict: Verdict, facts: EngineFacts, replicas: int, *, reader: Reader, now: datetime) -> Verdict:
    statefulset = facts.current.statefulset
    if statefulset is None or statefulset.metadata.creation_timestamp is None:
        return verdict
    metadata, age = statefulset.metadata, now - statefulset.metadata.creation_timestamp
    if not is_worth_asking(verdict, facts, replicas, age):
        return doubting_verdict(verdict, facts.current.pods, age)
    fields = f"involvedObject.uid={metadata.uid},type=Warning"
    try:
        events = await reader.list(Scope(resource=CORE_EVENTS, namespace=metadata.namespace, fields=fields))
    except OperatorError:
        log.warning("events not read", extra={"statefulset": metadata.name}, exc_info=True)
        return verdict
    return refined_verdict(verdict, metadata.name, events)
