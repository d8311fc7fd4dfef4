"""Which certificate does a server show? Files that are read again when they change, or one made in memory.

The root file system is read-only and there is no writable volume: keys live in memory only.
"""

import asyncio
import hashlib
import ipaddress
import logging
import os
import ssl
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Never, Protocol

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.runtime.clock import Clock

POLL_SECONDS: Final = 2.0
SELF_SIGNED_LIFE: Final = timedelta(days=365)

log = logging.getLogger(__name__)


class CertificateRecorder(Protocol):
    """Told of every reading of a certificate, for metrics."""

    def certificate_read(self, expires_at: datetime | None, /) -> None: ...
    def certificate_failed(self) -> None: ...


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    certificate: Path
    key: Path

    @property
    def exist(self) -> bool:
        return self.certificate.is_file() and self.key.is_file()

    def read(self) -> bytes:
        return self.certificate.read_bytes() + b"\n" + self.key.read_bytes()


def server_context(pem: bytes) -> ssl.SSLContext:
    context = empty_server_context()
    load_pem(context, pem)
    return context


def empty_server_context() -> ssl.SSLContext:
    """Until a certificate is loaded into it every handshake fails."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def load_pem(context: ssl.SSLContext, pem: bytes) -> None:
    """Raises ConfigurationError for a certificate and a key that do not fit; the context is then as it was."""
    with _memory_file(pem) as path:
        try:
            # Loading is two steps, and a failure between them would leave a new certificate with the old key.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(path)
            context.load_cert_chain(path)
        except (ssl.SSLError, OSError) as err:
            raise ConfigurationError(f"unusable certificate or key: {err}") from err


def expires_at(pem: bytes) -> datetime | None:
    """Of the first certificate, which is the one that is shown; None if OpenSSL takes it and this cannot read it."""
    from cryptography import x509  # noqa: PLC0415 - several megabytes, which not every process needs

    try:
        return x509.load_pem_x509_certificate(pem).not_valid_after_utc
    except ValueError:
        return None


@contextmanager
def _memory_file(content: bytes) -> Generator[str]:
    """OpenSSL reads keys from files only; this one has no name on any disk."""
    descriptor = os.memfd_create("certificate", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, content)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


class ReloadingCertificate:
    """Raises ConfigurationError if the files cannot be used at the start; later it keeps what it has."""

    def __init__(self, files: CertificateFiles, clock: Clock, recorder: CertificateRecorder) -> None:
        self._files = files
        self._clock = clock
        self._recorder = recorder
        pem = self._read()
        self._seen = hashlib.sha256(pem).digest()
        self.context = server_context(pem)
        recorder.certificate_read(expires_at(pem))

    @property
    def name(self) -> str:
        return f"certificate {self._files.certificate}"

    async def run(self) -> Never:
        """New handshakes get the new certificate; nothing that is connected notices."""
        while True:
            await self._clock.sleep(POLL_SECONDS)
            await asyncio.to_thread(self.reload)

    def reload(self) -> None:
        try:
            pem = self._read()
            seen = hashlib.sha256(pem).digest()
            if seen == self._seen:
                return
            self._seen = seen
            load_pem(self.context, pem)
        except ConfigurationError as err:
            self._recorder.certificate_failed()
            log.error("certificate not reloaded", extra={"error": err})  # noqa: TRY400 - the file is wrong, not the code
            return
        self._recorder.certificate_read(expires_at(pem))
        log.info("certificate reloaded", extra={"file": str(self._files.certificate)})

    def _read(self) -> bytes:
        try:
            return self._files.read()
        except OSError as err:
            raise ConfigurationError(f"unreadable certificate or key: {err}") from err


def self_signed_pem(clock: Clock) -> bytes:
    """A certificate for localhost and its key: clients cannot verify it, but nobody reads along."""
    # Costs several megabytes, and only processes without certificate files need it.
    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(clock.now() - timedelta(hours=1))
        .not_valid_after(clock.now() + SELF_SIGNED_LIFE)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(encoding) + private
