"""The Secret that the operator keeps its webhook certificates in."""

import base64
import binascii
from typing import Final

import msgspec

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.refs import Manifest, Ref

CA_BUNDLE: Final = "ca.crt"
CA_KEY: Final = "ca.key"
CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"


class ServedPair(msgspec.Struct, frozen=True, kw_only=True):
    """What a replica shows. The authority's key is read by the leader alone."""

    metadata: ObjectMeta
    pem: bytes  # certificate and key; empty if either is missing


class _Secret(msgspec.Struct, frozen=True):
    metadata: ObjectMeta
    data: dict[str, str] | None = None


_SECRET: Final = msgspec.json.Decoder(_Secret)


def decode_served_pair(body: bytes) -> ServedPair:
    secret = _SECRET.decode(body)
    data = decoded_data({"data": secret.data})
    parts = [data.get(CERTIFICATE, b""), data.get(KEY, b"")]
    return ServedPair(metadata=secret.metadata, pem=b"\n".join(parts) if all(parts) else b"")


def decoded_data(secret: Manifest | None) -> dict[str, bytes]:
    """What is no base64 reads as missing: it is made again then."""
    found: dict[str, bytes] = {}
    for key, text in ((secret or {}).get("data") or {}).items():
        try:
            found[key] = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            continue
    return found


def secret_manifest(ref: Ref, data: dict[str, bytes]) -> Manifest:
    return {
        "apiVersion": ref.resource.api_version,
        "kind": ref.resource.kind,
        "metadata": {"namespace": ref.namespace, "name": ref.name},
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }
