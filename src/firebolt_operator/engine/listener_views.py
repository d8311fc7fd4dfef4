"""What the caches keep of a generation's certificate: the request, whether it is issued, what tells it from others."""

from dataclasses import replace
from typing import Final

import msgspec

from firebolt_operator.api.model import Model, ObjectMeta
from firebolt_operator.engine.views import Child, decode_child
from firebolt_operator.manifests.kept_metadata import kept_metadata
from firebolt_operator.reconciling.issued_views import TLS_KEYS, decode_served_secret

MOST_NAME: Final = 253  # characters; no Certificate has a longer one


class _Condition(Model, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""
    observed_generation: int | None = None


class _Status(Model, frozen=True, kw_only=True):
    conditions: tuple[_Condition, ...] = ()


class _Certificate(Model, frozen=True, kw_only=True):
    status: _Status = _Status()


class _Secret(Model, frozen=True, kw_only=True):
    metadata: ObjectMeta


_certificates: Final = msgspec.json.Decoder(_Certificate)
_secrets: Final = msgspec.json.Decoder(_Secret)


def decode_listener_certificate(body: bytes) -> Child:
    conditions = _certificates.decode(body).status.conditions
    ready = next((each for each in conditions if each.type == "Ready" and each.status == "True"), _Condition())
    return msgspec.structs.replace(decode_child(body), ready_generation=ready.observed_generation)


def decode_listener_secret(body: bytes) -> Child:
    """Anybody may label a Secret like ours: no text of it is kept, and nothing that could be long."""
    issued = decode_served_secret(body)
    kept = replace(
        issued,
        filled=issued.filled.intersection(TLS_KEYS),
        issued_for=issued.issued_for[: MOST_NAME + 1],
        authority="",
    )
    metadata = kept_metadata(_secrets.decode(body).metadata)
    return Child(metadata=msgspec.structs.replace(metadata, annotations={}), issued=kept)
