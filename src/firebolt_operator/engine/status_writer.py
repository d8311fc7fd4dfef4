"""Writes an engine's status: once per pass, and only when something other than its date is new."""

from datetime import datetime

import msgspec

from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.status_write import ENGINE_STATUS, put_status


async def write_status(
    engine: FireboltEngine, status: EngineStatus, *, reader: Reader, writer: Writer, now: datetime
) -> FireboltEngine:
    """The engine as it is stored afterwards."""
    if not _is_news(engine.status, status):
        return engine
    dated = msgspec.structs.replace(status, last_reconciled=now.replace(microsecond=0))
    return await put_status(ENGINE_STATUS, engine, dated, reader=reader, writer=writer)


def _is_news(old: EngineStatus, new: EngineStatus) -> bool:
    return msgspec.structs.replace(old, last_reconciled=None) != msgspec.structs.replace(new, last_reconciled=None)
