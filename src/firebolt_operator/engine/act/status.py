"""Writes an engine's status: once per pass, and only when something other than its date is new.

Definitions of a former release make the API server drop the fields that came later, without a word. What it drops is no
news, or the same status would be written in every pass.
"""

import logging
from dataclasses import dataclass, field

import msgspec

from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.api.names import EventReason
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.reconciling.status import ENGINE_STATUS, put_status
from firebolt_operator.reconciling.warner import Warner
from firebolt_operator.refs import Warn
from firebolt_operator.runtime.clock import Clock

EMPTY = EngineStatus(current_generation=0, active_generation=0)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StatusWriter:
    reader: Reader
    writer: Writer
    clock: Clock
    warner: Warner | None = None  # None: nobody is told of fields that are dropped
    _dropped: set[str] = field(default_factory=set[str], init=False)

    def drops(self, *fields: str) -> bool:
        """Whether the API server is known to drop one of these."""
        return not self._dropped.isdisjoint(fields)

    async def write(self, engine: FireboltEngine, status: EngineStatus) -> FireboltEngine:
        """The engine as it is stored afterwards."""
        if self._as_kept(engine.status) == self._as_kept(status):
            return engine
        dated = msgspec.structs.replace(status, last_reconciled=self.clock.now().replace(microsecond=0))
        stored = await put_status(ENGINE_STATUS, engine, dated, reader=self.reader, writer=self.writer)
        await self._compare(stored, dated)
        return stored

    def _as_kept(self, status: EngineStatus) -> EngineStatus:
        blank = {name: getattr(EMPTY, name) for name in self._dropped}
        return msgspec.structs.replace(status, last_reconciled=None, **blank)

    async def _compare(self, stored: FireboltEngine, sent: EngineStatus) -> None:
        names = EngineStatus.__struct_fields__
        dropped = {each for each in names if getattr(sent, each) and not getattr(stored.status, each)} - self._dropped
        if not dropped:
            return
        self._dropped.update(dropped)
        encoded = dict(zip(names, EngineStatus.__struct_encode_fields__, strict=True))
        note = (
            f"the API server drops status.{', status.'.join(sorted(encoded[each] for each in dropped))}: its"
            " CustomResourceDefinitions are of a former release. Upgrade them and restart the operator; what needs"
            " these fields is off until then (--max-rolling, for one)"
        )
        log.error("status fields dropped", extra={"note": note})
        if self.warner is not None:
            warning = Warn(reason=EventReason.STATUS_FIELDS_DROPPED, action="UpdateStatus", note=note)
            await self.warner.warn(stored.metadata, warning)
