"""Which keys can cert-manager make for us? Signing keys and both TLS listeners ask for them in the same words."""

from typing import Final

from firebolt_operator.api.tls import CertManagerSpec
from firebolt_operator.policy.field_errors import FieldError, Path, invalid

DEFAULT_SIZE: Final = 384  # an empty size means this
SIZES: Final = {"RSA": (2048, 4096, 8192), "ECDSA": (256, 384, 521)}
"""A list and not a range: cert-manager makes no others, and the size of a signing key can never be mended."""


def key_size(asked: CertManagerSpec) -> int:
    return asked.size or DEFAULT_SIZE


def check_key_size(asked: CertManagerSpec, base: Path) -> list[FieldError]:
    size, allowed = key_size(asked), SIZES[asked.algorithm]
    if size in allowed:
        return []
    sizes = ", ".join(map(str, allowed))
    return [invalid(base.child("size"), size, f"must be one of {sizes} for {asked.algorithm} keys")]
