"""Writes an engine's status: once per pass, only when there is news, and never over somebody else's."""

from datetime import datetime

import msgspec

from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.api.serialise import encode_status, parse_engine
from firebolt_operator.errors import ConflictError, TransientError
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.refs import Manifest, Ref


async def write_status(
    engine: FireboltEngine, status: EngineStatus, *, reader: Reader, writer: Writer, now: datetime
) -> FireboltEngine:
    """The engine as it is stored afterwards.

    After a conflict one more try is sound only while the stored status is still the one that this pass started from:
    then somebody edited the spec, and our status says nothing that the edit made wrong.
    """
    if not _is_news(engine.status, status):
        return engine
    dated = msgspec.structs.replace(status, last_reconciled=now.replace(microsecond=0))
    try:
        return await _put(engine, dated, writer)
    except ConflictError:
        fresh = await _read_again(engine, reader)
        if fresh.status != engine.status:
            raise
        return await _put(fresh, dated, writer)


def _is_news(old: EngineStatus, new: EngineStatus) -> bool:
    return msgspec.structs.replace(old, last_reconciled=None) != msgspec.structs.replace(new, last_reconciled=None)


async def _put(engine: FireboltEngine, status: EngineStatus, writer: Writer) -> FireboltEngine:
    return parse_engine(await writer.update_status(status_manifest(engine, status)))


def status_manifest(engine: FireboltEngine, status: EngineStatus) -> Manifest:
    metadata = engine.metadata
    return {
        "apiVersion": FIREBOLT_ENGINES.api_version,
        "kind": FIREBOLT_ENGINES.kind,
        "metadata": {
            "name": metadata.name,
            "namespace": metadata.namespace,
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
        },
        "status": encode_status(status),
    }


async def _read_again(engine: FireboltEngine, reader: Reader) -> FireboltEngine:
    metadata = engine.metadata
    found = await reader.get(Ref(FIREBOLT_ENGINES, metadata.namespace, metadata.name))
    if found is None or found["metadata"]["uid"] != metadata.uid:
        raise TransientError(f"FireboltEngine {metadata.namespace}/{metadata.name} was replaced during its pass")
    return parse_engine(found)
