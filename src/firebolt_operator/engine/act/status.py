"""Writes an engine's status: once per pass, and only when something other than its date is new."""

from dataclasses import dataclass

import msgspec

from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.reconciling.status import ENGINE_STATUS, put_status
from firebolt_operator.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class StatusWriter:
    reader: Reader
    writer: Writer
    clock: Clock

    async def write(self, engine: FireboltEngine, status: EngineStatus) -> FireboltEngine:
        """The engine as it is stored afterwards."""
        if not _is_news(engine.status, status):
            return engine
        dated = msgspec.structs.replace(status, last_reconciled=self.clock.now().replace(microsecond=0))
        return await put_status(ENGINE_STATUS, engine, dated, reader=self.reader, writer=self.writer)


def _is_news(old: EngineStatus, new: EngineStatus) -> bool:
    return msgspec.structs.replace(old, last_reconciled=None) != msgspec.structs.replace(new, last_reconciled=None)
