"""Why does a StatefulSet not get its pods? Its events tell; a diagnosis is welcome and never worth a failed pass."""

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import CORE_EVENTS
from firebolt_operator.engine.decide.warnings import doubting_verdict, is_worth_asking, refined_verdict
from firebolt_operator.engine.facts import EngineFacts
from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.ports import Page, Reader, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.objects import manifest_of

MOST_EVENTS: Final = 100
"""Enough for a diagnosis; whoever may write events may write any number of them."""
LOOKUP_SECONDS: Final = 2.0  # the wait for a place included: what the pass will write is more urgent
NO_PAGE: Final = Page([], "")

log = logging.getLogger(__name__)


class LookupRecorder(Protocol):
    def event_lookup_failed(self) -> None: ...


@dataclass(frozen=True, slots=True)
class EventLookup:
    reader: Reader
    recorder: LookupRecorder

    async def warnings_of(self, statefulset: ObjectMeta) -> list[Manifest] | None:
        """None if nobody could tell."""
        fields = f"involvedObject.uid={statefulset.uid},type=Warning"
        try:
            scope = Scope(resource=CORE_EVENTS, namespace=statefulset.namespace, fields=fields)
            async with (
                asyncio.timeout(LOOKUP_SECONDS),
                aclosing(self.reader.pages(scope, limit=MOST_EVENTS)) as pages,
            ):
                first = await anext(pages, NO_PAGE)
        except (OperatorError, TimeoutError):
            log.warning("events not read", extra={"statefulset": statefulset.name}, exc_info=True)
            self.recorder.event_lookup_failed()
            return None
        return [manifest_of(item) for item in first.items if not isinstance(item, SetAside)]

    async def diagnose(self, verdict: Verdict, facts: EngineFacts, replicas: int, now: datetime) -> Verdict:
        """The same verdict, in the words of whoever knows more."""
        statefulset = facts.current.statefulset
        if statefulset is None or statefulset.metadata.creation_timestamp is None:
            return verdict
        metadata, age = statefulset.metadata, now - statefulset.metadata.creation_timestamp
        if not is_worth_asking(verdict, facts, replicas, age):
            return doubting_verdict(verdict, facts.current.pods, age)
        events = await self.warnings_of(metadata)
        return verdict if events is None else refined_verdict(verdict, metadata.name, events)
