"""What is kept of the Secrets that an instance refers to: enough to decide, and never a password."""

import base64
import hashlib
from typing import Final

import msgspec

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.names import ANNOTATION_CERTIFICATE_NAME, ANNOTATION_INSTANCE_ID, KEY_PRIVATE_KEY
from firebolt_operator.instance.database_login import KEY_DATABASE, KEY_PASSWORD, KEY_USERNAME
from firebolt_operator.manifests.kept_metadata import LONGEST_NAME, kept_metadata

CREDENTIAL_KEYS: Final = (KEY_USERNAME, KEY_PASSWORD, KEY_DATABASE)
ANNOTATIONS: Final = (ANNOTATION_INSTANCE_ID, ANNOTATION_CERTIFICATE_NAME)
MOST_KEYS: Final = 64  # of a Secret, to be told apart: somebody else's may have any number
MOST_ENCODED: Final = 4096  # characters; a multiple of four


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


def decode_secret(body: bytes) -> SecretView:
    secret = _secrets.decode(body)
    data = secret.data or {}
    told = data if len(data) <= MOST_KEYS else {key: data[key] for key in CREDENTIAL_KEYS if key in data}
    return SecretView(
        metadata=_kept(secret.metadata),
        type=secret.type,
        filled=frozenset(key for key in CREDENTIAL_KEYS if data.get(key)),
        username=_plain(data.get(KEY_USERNAME, "")),
        database=_plain(data.get(KEY_DATABASE, "")),
        # Not of a private key: nobody compares those.
        digests={
            key: hashlib.sha256(value.encode()).digest()
            for key, value in told.items()
            if value and key != KEY_PRIVATE_KEY
        },
    )


def decode_metadata(body: bytes) -> ObjectMeta:
    """All that matters of a volume claim, or of anything that is only to be deleted."""
    return _claims.decode(body).metadata


def _kept(metadata: ObjectMeta) -> ObjectMeta:
    notes = {name: metadata.annotations[name][:LONGEST_NAME] for name in ANNOTATIONS if name in metadata.annotations}
    return msgspec.structs.replace(kept_metadata(metadata), annotations=notes)


def _plain(encoded: str) -> str:
    """Its beginning at least: no name is as long."""
    try:
        return base64.b64decode(encoded[:MOST_ENCODED]).decode(errors="replace")
    except ValueError:
        return ""
