"""What the caches keep of an instance's objects: enough to decide, and never a password."""

import base64
import hashlib
from typing import Any, Final

import msgspec

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.names import LABEL_INSTANCE
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.instance.database_login import KEY_DATABASE, KEY_PASSWORD, KEY_USERNAME
from firebolt_operator.manifests.managed_fields import applied_fields
from firebolt_operator.refs import Manifest

COMPARED: Final = ("metadata", "spec", "data", "rules", "roleRef", "subjects")
CREDENTIAL_KEYS: Final = (KEY_USERNAME, KEY_PASSWORD, KEY_DATABASE)
MOST_KEYS: Final = 64  # of a Secret, to be told apart: somebody else's may have any number
MOST_ENCODED: Final = 4096  # characters; a multiple of four
KEPT_METADATA: Final = ("name", "namespace", "labels", "annotations", "ownerReferences")


class LiveObject(msgspec.Struct, frozen=True, kw_only=True):
    """A workload, Service, ConfigMap, budget or account as it is stored, without its bookkeeping."""

    metadata: ObjectMeta
    content: dict[str, Any]  # what a rendered manifest is compared with; empty of what is not ours
    owned: dict[str, Any]  # the fields that the server knows us to have applied; empty means none
    ready_replicas: int = 0

    @property
    def instance(self) -> str:
        return self.metadata.labels.get(LABEL_INSTANCE, "")

    def is_owned_by(self, uid: str) -> bool:
        return any(owner.uid == uid for owner in self.metadata.owner_references)


class SecretView(msgspec.Struct, frozen=True, kw_only=True):
    """A Secret with database credentials: which keys are filled, and the two values that are no secret."""

    metadata: ObjectMeta
    type: str
    filled: frozenset[str]
    username: str = ""
    database: str = ""
    digests: dict[str, bytes] = {}  # of the content of each filled key, for as long as there are not too many


class _Claim(msgspec.Struct, frozen=True):
    metadata: ObjectMeta


class _Secret(msgspec.Struct, frozen=True):
    metadata: ObjectMeta
    type: str = ""
    data: dict[str, str] | None = None


_secrets: Final = msgspec.json.Decoder(_Secret)
_claims: Final = msgspec.json.Decoder(_Claim)


def decode_live(body: bytes) -> LiveObject:
    return live_object(msgspec.json.decode(body))


def live_object(document: Manifest) -> LiveObject:
    metadata: Manifest = document["metadata"]
    kept, owned = msgspec.convert(metadata, ObjectMeta), applied_fields(metadata)
    content: Manifest = {}
    if owned or any(owner.kind == FIREBOLT_INSTANCES.kind for owner in kept.owner_references):
        content = {key: document[key] for key in COMPARED if key in document}
        content["metadata"] = {key: metadata[key] for key in KEPT_METADATA if key in metadata}
    else:
        # Of what is nobody's of ours, only that it is there: anybody may label anything like ours.
        kept = msgspec.structs.replace(kept, annotations={})
    return LiveObject(
        metadata=kept,
        content=content,
        owned=owned,
        ready_replicas=(document.get("status") or {}).get("readyReplicas") or 0,
    )


def decode_secret(body: bytes) -> SecretView:
    secret = _secrets.decode(body)
    data = secret.data or {}
    told = data if len(data) <= MOST_KEYS else {key: data[key] for key in CREDENTIAL_KEYS if key in data}
    return SecretView(
        metadata=secret.metadata,
        type=secret.type,
        filled=frozenset(key for key in CREDENTIAL_KEYS if data.get(key)),
        username=_plain(data.get(KEY_USERNAME, "")),
        database=_plain(data.get(KEY_DATABASE, "")),
        digests={key: hashlib.sha256(value.encode()).digest() for key, value in told.items() if value},
    )


def decode_metadata(body: bytes) -> ObjectMeta:
    """All that matters of a volume claim, or of anything that is only to be deleted."""
    return _claims.decode(body).metadata


def _plain(encoded: str) -> str:
    """Its beginning at least: no name is as long."""
    try:
        return base64.b64decode(encoded[:MOST_ENCODED]).decode(errors="replace")
    except ValueError:
        return ""
