"""What do we show the API server to prove who we are, right now?"""

import base64
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.kube.tls import ClientTls

REREAD_AFTER_SECONDS: Final = 60.0
LOOK_AGAIN_AFTER_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Proof:
    authorization: str  # value of the Authorization header; empty for none
    tls: ssl.SSLContext  # carries the client certificate, if there is one


class Identity(Protocol):
    async def proof(self) -> Proof: ...
    async def renew(self, rejected: Proof) -> bool:
        """The server answered 401 to this proof; says whether the next one is another."""
        ...

    async def reread_authorities(self, proof: Proof) -> bool:
        """The server's certificate was not believed; says whether the next proof believes others."""
        ...


def bearer(token: str) -> str:
    return f"Bearer {token}"


def basic(username: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


@dataclass(frozen=True, slots=True)
class FixedIdentity:
    """A client certificate, a token or a password that does not change while we run."""

    authorization: str
    tls: ClientTls

    async def proof(self) -> Proof:
        return Proof(self.authorization, self.tls.context)

    async def renew(self, rejected: Proof) -> bool:
        return self.authorization != rejected.authorization

    async def reread_authorities(self, proof: Proof) -> bool:
        return self.tls.reread(proof.tls)


class TokenFile:
    """A token that someone else rotates, as the kubelet does: read again when it changes, and every minute."""

    def __init__(self, path: Path, tls: ClientTls, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._tls = tls
        self._clock = clock
        self._modified_at = 0
        self._look_at = 0.0
        self._reread_at = 0.0
        try:
            self._authorization = self._read()
        except OSError as err:
            raise ConfigurationError(f"cannot read the token file {path}: {err.strerror}") from err

    async def proof(self) -> Proof:
        now = self._clock()
        if now >= self._look_at:
            self._look_at = now + LOOK_AGAIN_AFTER_SECONDS
            self._refresh(is_due=now >= self._reread_at)
        return Proof(self._authorization, self._tls.context)

    async def renew(self, rejected: Proof) -> bool:
        self._refresh(is_due=True)
        return self._authorization != rejected.authorization

    async def reread_authorities(self, proof: Proof) -> bool:
        return self._tls.reread(proof.tls)

    def _refresh(self, *, is_due: bool) -> None:
        try:
            if is_due or self._path.stat().st_mtime_ns != self._modified_at:
                self._authorization = self._read()
        except OSError:
            # Between two versions of the file the old token is still the best we have; a 401 would tell.
            return

    def _read(self) -> str:
        self._modified_at = self._path.stat().st_mtime_ns
        token = self._path.read_text().strip()
        self._reread_at = self._clock() + REREAD_AFTER_SECONDS
        return bearer(token)
