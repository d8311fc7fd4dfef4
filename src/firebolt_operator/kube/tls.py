"""How do we know the API server, and how does it know us, without writing a key to disk?"""

import os
import ssl
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from firebolt_operator.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Which server certificates are believed."""

    authorities: str | None  # PEM; None means the ones the system trusts
    is_insecure: bool = False  # believe anything: insecure-skip-tls-verify
    source: Path | None = None  # the file that the authorities came from, which someone else may rotate

    def reread(self) -> "Trust":
        return self if self.source is None else replace(self, authorities=self.source.read_text())

    def context(self, client_certificate: bytes | None = None) -> ssl.SSLContext:
        """The client certificate is PEM: the chain, then its key."""
        try:
            context = ssl.create_default_context(cadata=self.authorities)
            # Go, and so every other client of this server, accepts authorities that lack optional extensions,
            # and any certificate in the bundle as an anchor. OpenSSL's defaults depend on the Python version.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            if self.is_insecure:
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
            if client_certificate is not None:
                with _as_file(client_certificate) as path:
                    # An empty password turns an encrypted key into an error instead of a prompt.
                    context.load_cert_chain(path, password="")
        except (ssl.SSLError, ValueError) as err:
            raise ConfigurationError(f"unusable certificate or key: {err}") from err
        return context


class ClientTls:
    """Whom we believe and what we show, as one context for all connections until the authorities change."""

    def __init__(self, trust: Trust, client_certificate: bytes | None = None) -> None:
        self._trust = trust
        self._certificate = client_certificate
        self.context = trust.context(client_certificate)

    def reread(self, distrusting: ssl.SSLContext) -> bool:
        """Says whether there is another context by now than this one, which did not believe the server."""
        if self.context is not distrusting:
            return True
        try:
            fresh = self._trust.reread()
            if fresh == self._trust:
                return False
            self.context = fresh.context(self._certificate)
        except (OSError, ValueError, ConfigurationError):
            # Between two versions of the file the old authorities are still the best we have.
            return False
        self._trust = fresh
        return True


@contextmanager
def _as_file(content: bytes) -> Generator[str]:
    """OpenSSL reads key pairs from files only; this one lives in memory where the system can do that."""
    if not hasattr(os, "memfd_create"):
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            yield file.name
        return
    descriptor = os.memfd_create("client-certificate")
    try:
        os.write(descriptor, content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
