"""What do we ask cert-manager for? One shape of Certificate; what it is good for says the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from firebolt_operator.api.durations import parse_duration
from firebolt_operator.api.resources import CERTIFICATES
from firebolt_operator.api.tls import CertManagerSpec
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    usages: tuple[str, ...]
    rotation_policy: str
    duration: str
    renew_before: str


SIGNING: Final = Purpose(
    # Nothing else: every engine holds the key, and it must not be good for a TLS connection.
    usages=("digital signature",),
    # Renewed around the same key: engines sign with it.
    rotation_policy="Never",
    duration="8760h",
    renew_before="2880h",
)
# Until it was seen, a private key that lies in its Secret already is somebody else's.
UNSEEN_SIGNING: Final = replace(SIGNING, rotation_policy="Always")
SERVING: Final = Purpose(
    usages=("server auth",),
    # A key that leaked ends with its certificate, and one that was planted is never adopted.
    rotation_policy="Always",
    duration="2160h",
    renew_before="720h",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyKind:
    algorithm: str
    size: int


def certificate(
    metadata: Manifest, asked: CertManagerSpec, purpose: Purpose, key: KeyKind, identity: Manifest
) -> Manifest:
    """The Secret has its name and its labels. `identity` is a common name or DNS names."""
    name, labels = metadata["name"], metadata["labels"]
    return {
        "apiVersion": CERTIFICATES.api_version,
        "kind": CERTIFICATES.kind,
        "metadata": metadata,
        "spec": {
            "secretName": name,
            "secretTemplate": {"labels": labels},
            **identity,
            "usages": list(purpose.usages),
            "issuerRef": {"name": asked.issuer_ref.name, "kind": asked.issuer_ref.kind},
            **_lifetime(asked, purpose),
            "privateKey": {
                "rotationPolicy": purpose.rotation_policy,
                "encoding": "PKCS8",
                "algorithm": key.algorithm,
                "size": key.size,
            },
        },
    }


def named(dns_names: Sequence[str]) -> Manifest:
    return {"dnsNames": list(dns_names)}


def _lifetime(asked: CertManagerSpec, purpose: Purpose) -> Manifest:
    duration, renew_before = asked.duration, asked.renew_before
    lasts = duration if duration is not None and _is_positive(duration) else purpose.duration
    renewed = renew_before if renew_before is not None and _is_positive(renew_before) else purpose.renew_before
    if parse_duration(renewed) >= parse_duration(lasts):
        # cert-manager refuses such a pair; without it, a third of the lifetime is its own default.
        return {"duration": lasts}
    return {"duration": lasts, "renewBefore": renewed}


def _is_positive(text: str) -> bool:
    return parse_duration(text) > timedelta(0)
