"""A CA with what it issues and takes back: certificates of servers and clients, and lists of those that are revoked."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from tests.support.self_signed import LIFETIME, START, Key, a_private_key, private_pem


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common)])


@dataclass(frozen=True, slots=True)
class Leaf:
    certificate: str
    key: str
    serial: int


@dataclass(frozen=True, slots=True)
class Authority:
    name: str = "firebolt"
    key: Key = field(default_factory=a_private_key)

    @property
    def pem(self) -> str:
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        builder = self._builder(self.name, self.key).add_extension(constraints, critical=True)
        own = x509.SubjectKeyIdentifier.from_public_key(self.key.public_key())
        return _pem(builder.add_extension(own, critical=False).sign(self.key, SHA256()))

    def leaf(self, *hosts: str, common: str = "leaf") -> Leaf:
        """Without hosts: of a client."""
        key = a_private_key()
        # By it one CA is told from another of the same name.
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = self._builder(common, key).add_extension(issuer, critical=False)
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName(list(map(x509.DNSName, hosts))), critical=False)
        made = builder.sign(self.key, SHA256())
        return Leaf(_pem(made), private_pem(key), made.serial_number)

    def revoked(self, serials: Sequence[int] = (), *, names_its_key: bool = True) -> str:
        builder = x509.CertificateRevocationListBuilder(_name(self.name), START, START + LIFETIME)
        if names_its_key:
            own = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
            builder = builder.add_extension(own, critical=False)
        for serial in serials:
            entry = x509.RevokedCertificateBuilder(serial, START + timedelta(days=1)).build()
            builder = builder.add_revoked_certificate(entry)
        return builder.sign(self.key, SHA256()).public_bytes(Encoding.PEM).decode()

    def _builder(self, common: str, key: Key) -> x509.CertificateBuilder:
        serial = x509.random_serial_number()
        builder = x509.CertificateBuilder(_name(self.name), _name(common), key.public_key(), serial)
        return builder.not_valid_before(START).not_valid_after(START + LIFETIME)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def server_side(folder: Path, leaf: Leaf) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*_files(folder, leaf))
    return context


def client_side(folder: Path, trusted: Authority, leaf: Leaf | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=trusted.pem)
    if leaf is not None:
        context.load_cert_chain(*_files(folder, leaf))
    return context


def _files(folder: Path, leaf: Leaf) -> tuple[Path, Path]:
    """OpenSSL loads keys from files only."""
    certificate, key = folder / f"{leaf.serial}.crt", folder / f"{leaf.serial}.key"
    certificate.write_text(leaf.certificate)
    key.write_text(leaf.key)
    return certificate, key
