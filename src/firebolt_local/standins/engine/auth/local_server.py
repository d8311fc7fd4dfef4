"""The authorization server inside every engine: a password for a token, and a token for a name.

All engines of an instance hold the same keys, so each of them believes what any other has signed.
"""

import hmac
import uuid
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import jwt

from firebolt_local.standins.engine.auth.config import Auth
from firebolt_local.standins.engine.auth.signing_keys import SigningKeys, load_signing_keys
from firebolt_local.standins.engine.auth.tokens import Expected, Limits, TokenError, Unverified, verified
from firebolt_local.standins.engine.auth.users import User
from firebolt_local.standins.engine.durations import parse_duration
from firebolt_local.standins.strict_files import ConfigError

ADMIN_ROLE: Final = "account_admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalServer:
    """`resource` stands for the instance: who issues its tokens, and whom they are for."""

    resource: str
    admin: str
    password: str
    keys: SigningKeys
    lifetime: timedelta
    limits: Limits

    def admits(self, name: str, password: str) -> bool:
        """There is nobody but the administrator: this engine's database knows no users."""
        is_known = hmac.compare_digest(name.encode(), self.admin.encode())
        return hmac.compare_digest(password.encode(), self.password.encode()) and is_known

    def token(self, name: str, *, now: float) -> str:
        claims = {
            "iss": self.resource,
            "aud": self.resource,
            "sub": name,
            "iat": int(now),
            "exp": int(now + self.lifetime.total_seconds()),
            "jti": str(uuid.uuid4()),
        }
        key_id = self.keys.signing_id
        return jwt.encode(claims, self.keys.by_id[key_id], self.keys.algorithm, headers={"kid": key_id})

    def user(self, token: str, said: Unverified, *, now: float) -> User:
        key = self.keys.public(said.key_id)
        if key is None:
            raise TokenError(f"no key {said.key_id}")
        expected = Expected(
            issuer=self.resource, audience=self.resource, algorithms=[self.keys.algorithm], limits=self.limits
        )
        name = verified(token, key, expected, now=now).get("sub")
        if name != self.admin:
            raise TokenError("no such user")
        return User(self.admin, (ADMIN_ROLE,))


def load_local_server(auth: Auth, instance_id: str) -> LocalServer:
    times = auth.local.jwt
    return LocalServer(
        resource=resource_of(instance_id),
        admin=auth.admin.name,
        password=_password(Path(auth.admin.password_file)),
        keys=load_signing_keys(auth.local),
        lifetime=parse_duration(times.token_expiry),
        limits=Limits.of(times),
    )


def resource_of(instance_id: str) -> str:
    return f"https://firebolt.io/instance/{instance_id}"


def _password(file: Path) -> str:
    """Taken as it is: a line end in the Secret belongs to the password."""
    where = f"instance.auth.admin.password_file: {file}"
    try:
        password = file.read_text(encoding="utf-8")
    except OSError as err:
        raise ConfigError(f"{where}: {err.strerror}") from err
    except UnicodeDecodeError as err:
        raise ConfigError(f"{where}: not text") from err
    if not password:
        raise ConfigError(f"{where}: the password is empty")
    return password
