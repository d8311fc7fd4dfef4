"""Which keys does an engine sign and check tokens with? Those of its files, read once, when it starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from firebolt_local.standins.engine.auth.config import LocalUsers, SigningKey
from firebolt_local.standins.strict_files import ConfigError

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
PublicKey = ec.EllipticCurvePublicKey | rsa.RSAPublicKey
_CURVES: Final = {"ES256": "secp256r1", "ES384": "secp384r1", "ES512": "secp521r1"}


@dataclass(frozen=True, slots=True)
class SigningKeys:
    algorithm: str
    by_id: Mapping[str, PrivateKey]  # the first one signs, all of them check

    @property
    def signing_id(self) -> str:
        return next(iter(self.by_id))

    def public(self, key_id: str) -> PublicKey | None:
        key = self.by_id.get(key_id)
        return None if key is None else key.public_key()

    def published(self) -> dict[str, Any]:
        """A key set, as RFC 7517 writes it; public parts only."""
        return {"keys": [self._published(key_id, key.public_key()) for key_id, key in self.by_id.items()]}

    def _published(self, key_id: str, key: PublicKey) -> dict[str, Any]:
        described = (
            RSAAlgorithm.to_jwk(key, as_dict=True)
            if isinstance(key, rsa.RSAPublicKey)
            else ECAlgorithm.to_jwk(key, as_dict=True)
        )
        return {**described, "kid": key_id, "use": "sig", "alg": self.algorithm}


def load_signing_keys(local: LocalUsers) -> SigningKeys:
    """One algorithm holds for all of them."""
    return SigningKeys(
        local.signing_algorithm, {key.id: _loaded(key, local.signing_algorithm) for key in local.signing_keys}
    )


def _loaded(described: SigningKey, algorithm: str) -> PrivateKey:
    where = f"instance.auth.local.signing_keys {described.id}: {described.private_key_path}"
    try:
        key = load_pem_private_key(Path(described.private_key_path).read_bytes(), password=None)
    except OSError as err:
        raise ConfigError(f"{where}: {err.strerror}") from err
    except (ValueError, TypeError, UnsupportedAlgorithm) as err:
        raise ConfigError(f"{where}: not a private key") from err
    if algorithm in _CURVES:
        if isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == _CURVES[algorithm]:
            return key
    elif isinstance(key, rsa.RSAPrivateKey):
        return key
    raise ConfigError(f"{where}: not a key for {algorithm}")
