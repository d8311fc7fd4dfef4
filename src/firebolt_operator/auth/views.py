"""What is kept of what cert-manager makes, and of other Secrets with keys and passwords: nothing of what is secret."""

import base64
from typing import Final

import msgspec

from firebolt_operator.api.model import Model, ObjectMeta
from firebolt_operator.api.names import (
    ANNOTATION_CERTIFICATE_NAME,
    KEY_AUTHORITY,
    KEY_CERTIFICATE,
    KEY_PRIVATE_KEY,
)
from firebolt_operator.api.serialise import EARLIEST, LATEST
from firebolt_operator.manifests.fingerprints import public_key_fingerprint
from firebolt_operator.manifests.issued import IssuedCertificate, IssuedSecret
from firebolt_operator.manifests.live_objects import LiveObject, live_object
from firebolt_operator.manifests.reading import mapping, mappings
from firebolt_operator.refs import Manifest

TLS_KEYS: Final = (KEY_CERTIFICATE, KEY_PRIVATE_KEY, KEY_AUTHORITY)
MOST_KEYS: Final = 256  # of a Secret, to be told by their names: somebody else's may have any number
MOST_ENCODED: Final = 1 << 18  # characters of a certificate, which has a few thousand


class CertificateView(LiveObject, frozen=True, kw_only=True):
    ready_generation: int | None = None

    @property
    def issued(self) -> IssuedCertificate:
        metadata = self.metadata
        return IssuedCertificate(
            uid=metadata.uid,
            created_at=metadata.creation_timestamp or LATEST,
            generation=metadata.generation,
            ready_generation=self.ready_generation,
        )


class _Secret(Model, frozen=True, kw_only=True):
    metadata: ObjectMeta
    data: dict[str, str] | None = None


_secrets: Final = msgspec.json.Decoder(_Secret)


def decode_certificate(body: bytes) -> CertificateView:
    document: Manifest = msgspec.json.decode(body)
    live = live_object(document)
    return CertificateView(
        metadata=live.metadata,
        content=live.content,
        owned=live.owned,
        ready_generation=_ready_generation(mapping(document.get("status"))),
    )


def _ready_generation(status: Manifest) -> int | None:
    ready = next((each for each in mappings(status.get("conditions")) if each.get("type") == "Ready"), {})
    return ready.get("observedGeneration") if ready.get("status") == "True" else None


def decode_issued_secret(body: bytes) -> IssuedSecret:
    secret = _secrets.decode(body)
    metadata, data = secret.metadata, secret.data or {}
    told = data if len(data) <= MOST_KEYS else TLS_KEYS
    return IssuedSecret(
        uid=metadata.uid,
        created_at=metadata.creation_timestamp or EARLIEST,
        filled=frozenset(key for key in told if data.get(key)),
        issued_for=metadata.annotations.get(ANNOTATION_CERTIFICATE_NAME, ""),
        version=metadata.resource_version,
        public_key=public_key_fingerprint(_public(data, KEY_CERTIFICATE)),
        authority=_public(data, KEY_AUTHORITY),
    )


def _public(data: dict[str, str], key: str) -> str:
    try:
        return base64.b64decode(data.get(key, "")[:MOST_ENCODED]).decode(errors="replace")
    except ValueError:
        return ""
