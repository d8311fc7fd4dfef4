"""Writes the status of one of our objects: under the version that was read, and never over somebody else's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from firebolt_operator.api.model import ObjectMeta, StatusModel
from firebolt_operator.api.resources import (
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
)
from firebolt_operator.api.serialise import (
    encode_status,
    parse_engine,
    parse_engine_class,
    parse_engine_preset,
    parse_instance,
)
from firebolt_operator.errors import ConflictError, TransientError
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.refs import Manifest, Ref, Resource


class WithStatus(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...
    @property
    def status(self) -> StatusModel: ...


K = TypeVar("K", bound=WithStatus)


@dataclass(frozen=True, slots=True)
class StatusKind(Generic[K]):
    resource: Resource
    parse: Callable[[Manifest], K]


ENGINE_STATUS: Final = StatusKind(FIREBOLT_ENGINES, parse_engine)
ENGINE_CLASS_STATUS: Final = StatusKind(FIREBOLT_ENGINE_CLASSES, parse_engine_class)
ENGINE_PRESET_STATUS: Final = StatusKind(FIREBOLT_ENGINE_PRESETS, parse_engine_preset)
INSTANCE_STATUS: Final = StatusKind(FIREBOLT_INSTANCES, parse_instance)


async def put_status(kind: StatusKind[K], read: K, status: StatusModel, *, reader: Reader, writer: Writer) -> K:
    """The object as it is stored afterwards. `read` is how the pass found it.

    After a conflict one more try is sound only while the stored status is still the one that the pass started from:
    then somebody edited the spec, and our status says nothing that the edit made wrong.
    """
    try:
        return kind.parse(await writer.update_status(_manifest(kind, read, status)))
    except ConflictError:
        fresh = await _read_again(kind, read, reader)
        if fresh.status != read.status:
            raise
        return kind.parse(await writer.update_status(_manifest(kind, fresh, status)))


def _manifest(kind: StatusKind[Any], read: WithStatus, status: StatusModel) -> Manifest:
    metadata = read.metadata
    return {
        "apiVersion": kind.resource.api_version,
        "kind": kind.resource.kind,
        "metadata": {
            "name": metadata.name,
            "namespace": metadata.namespace,
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
        },
        "status": encode_status(status),
    }


async def _read_again(kind: StatusKind[K], read: K, reader: Reader) -> K:
    ref = Ref(kind.resource, read.metadata.namespace, read.metadata.name)
    found = await reader.get(ref)
    if found is None or found["metadata"]["uid"] != read.metadata.uid:
        raise TransientError(f"{ref} was replaced during its pass")
    return kind.parse(found)
