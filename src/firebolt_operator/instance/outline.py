"""What is known of an instance that cannot be decoded? Enough to delete it, and never less than its database needs."""

from typing import Final, TypeVar

import msgspec

from firebolt_operator.api.instance import FireboltInstance, GatewaySpec, InstanceSpec, InstanceStatus, MetadataSpec
from firebolt_operator.api.model import Model
from firebolt_operator.api.postgres_storage import PostgresStorageSpec
from firebolt_operator.instance.views import decode_metadata

UNKNOWN_STORAGE: Final = PostgresStorageSpec(reclaim_policy="Retain")
"""Nobody can say that it was to be deleted, and what is deleted is lost."""


class _Service(Model, frozen=True, kw_only=True):
    postgres_storage: PostgresStorageSpec = msgspec.field(default_factory=PostgresStorageSpec)


class _Spec(Model, frozen=True, kw_only=True):
    metadata: _Service  # every instance has it: where it is missing, it could not be read


class _Storage(Model, frozen=True, kw_only=True):
    spec: _Spec


class _Wanted(Model, frozen=True, kw_only=True):
    id: str = ""


class _Published(Model, frozen=True, kw_only=True):
    instance_id: str = msgspec.field(default="", name="instanceID")


class _Identity(Model, frozen=True, kw_only=True):
    spec: _Wanted = _Wanted()
    status: _Published = _Published()


_Part = TypeVar("_Part", _Storage, _Identity)
_STORAGE: Final = msgspec.json.Decoder(_Storage)
_IDENTITY: Final = msgspec.json.Decoder(_Identity)


def instance_to_delete(body: bytes) -> FireboltInstance:
    """Only what a deletion asks for; all the rest of it is made up."""
    storage, identity = _read(_STORAGE, body), _read(_IDENTITY, body) or _Identity()
    kept = MetadataSpec(postgres_storage=storage.spec.metadata.postgres_storage if storage else UNKNOWN_STORAGE)
    return FireboltInstance(
        metadata=decode_metadata(body),
        spec=InstanceSpec(id=identity.spec.id, metadata=kept, gateway=GatewaySpec()),
        status=InstanceStatus(instance_id=identity.status.instance_id),
    )


def _read(decoder: "msgspec.json.Decoder[_Part]", body: bytes) -> _Part | None:
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return None
