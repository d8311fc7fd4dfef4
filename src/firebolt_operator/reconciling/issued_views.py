"""What is kept of what cert-manager makes, and of other Secrets with keys and passwords: nothing of what is secret."""

import base64
from dataclasses import replace
from typing import Final

import msgspec

from firebolt_operator.api.model import Model, ObjectMeta
from firebolt_operator.api.names import (
    ANNOTATION_CERTIFICATE_NAME,
    KEY_AUTHORITY,
    KEY_CERTIFICATE,
    KEY_PRIVATE_KEY,
    KEY_REVOCATIONS,
    LABEL_ENGINE,
)
from firebolt_operator.api.serialise import EARLIEST, LATEST
from firebolt_operator.manifests.fingerprints import (
    blob_fingerprint,
    private_key_fingerprint,
    public_key_fingerprint,
)
from firebolt_operator.manifests.issued import IssuedCertificate, IssuedSecret, wrong_secret
from firebolt_operator.manifests.live_objects import LiveObject, live_object
from firebolt_operator.manifests.reading import mapping, mappings
from firebolt_operator.manifests.revocations import read_revocations
from firebolt_operator.refs import Manifest

TLS_KEYS: Final = (KEY_CERTIFICATE, KEY_PRIVATE_KEY, KEY_AUTHORITY, KEY_REVOCATIONS)
MOST_KEYS: Final = 256  # of a Secret, to be told by their names: somebody else's may have any number
MOST_ENCODED: Final = 1 << 18  # characters of a certificate, which has a few thousand
MOST_PRIVATE: Final = 1 << 15  # characters of a private key: 8,192 bits of RSA have less than 9,000
MOST_AUTHORITY: Final = 1 << 16  # characters of the CAs of one generation
MOST_REVOCATIONS: Final = 1 << 21  # of a list of those that were taken back: more than any Secret holds


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


class GenerationAuthority(msgspec.Struct, frozen=True, kw_only=True):
    """The CA of an engine's generation, whose Secret is found by its labels."""

    namespace: str
    engine: str
    text: str  # empty unless cert-manager says that it wrote the Secret for the Certificate of that name


def decode_generation_authority(body: bytes) -> GenerationAuthority:
    """Anybody may label a Secret like ours: nothing else of it is kept, and nothing that could be long."""
    secret = _secrets.decode(body)
    metadata, issued = secret.metadata, _served(secret)
    is_sound = len(issued.authority) <= MOST_AUTHORITY and not wrong_secret(issued, metadata.name)
    return GenerationAuthority(
        namespace=metadata.namespace,
        engine=metadata.labels.get(LABEL_ENGINE, ""),
        text=issued.authority if is_sound else "",
    )


def decode_served_secret(body: bytes) -> IssuedSecret:
    """Without a look into keys and lists, which takes time: for Secrets that anybody may label like ours."""
    return _served(_secrets.decode(body))


def decode_issued_secret(body: bytes) -> IssuedSecret:
    return _with_public_key(_secrets.decode(body))


def decode_gateway_secret(body: bytes) -> IssuedSecret:
    """Which may hold revocation lists."""
    secret = _secrets.decode(body)
    lists = _public(secret.data or {}, KEY_REVOCATIONS, MOST_REVOCATIONS)
    revoking = read_revocations(lists)
    revocations = blob_fingerprint(lists) if revoking else ""
    return replace(_with_public_key(secret), revocations=revocations, revoking=revoking)


def _with_public_key(secret: _Secret) -> IssuedSecret:
    data = secret.data or {}
    certificate, private_key = _public(data, KEY_CERTIFICATE), _public(data, KEY_PRIVATE_KEY, MOST_PRIVATE)
    return replace(_served(secret), public_key=_public_key(certificate, private_key))


def _served(secret: _Secret) -> IssuedSecret:
    metadata, data = secret.metadata, secret.data or {}
    told, certificate = data if len(data) <= MOST_KEYS else TLS_KEYS, _public(data, KEY_CERTIFICATE)
    return IssuedSecret(
        uid=metadata.uid,
        created_at=metadata.creation_timestamp or EARLIEST,
        filled=frozenset(key for key in told if data.get(key)),
        issued_for=metadata.annotations.get(ANNOTATION_CERTIFICATE_NAME, ""),
        version=metadata.resource_version,
        authority=_public(data, KEY_AUTHORITY),
        served=blob_fingerprint(certificate) if certificate else "",
    )


def _public_key(certificate: str, private_key: str) -> str:
    """Of the pair, as programs use it: a private key may have been written beside a certificate that is not its own."""
    public = public_key_fingerprint(certificate)
    return private_key_fingerprint(private_key) if public and private_key else public


def _public(data: dict[str, str], key: str, most: int = MOST_ENCODED) -> str:
    try:
        return base64.b64decode(data.get(key, "")[:most]).decode(errors="replace")
    except ValueError:
        return ""
