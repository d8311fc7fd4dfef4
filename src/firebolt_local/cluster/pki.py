"""Who may talk to the cluster? One authority per cluster, one certificate per actor.

Elliptic keys, because they take a millisecond; RSA only where service-account tokens are signed.
"""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID_FOR = dt.timedelta(days=365)
_CLOCK_SKEW = dt.timedelta(hours=1)
_PEM = serialization.Encoding.PEM


@dataclass(frozen=True, slots=True)
class KeyPair:
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Subject:
    name: str  # the user name, for Kubernetes
    groups: Sequence[str] = ()
    hosts: Sequence[str] = ()  # names and addresses a server answers under


class Authority:
    """A certificate authority whose files live in one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder
        self.pair = KeyPair(folder / "ca.crt", folder / "ca.key")
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _x509_name(Subject("firebolt-local"))
        builder = _certificate(self._name, self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(_usage(is_authority=True), critical=True)
        _write_pair(self.pair, builder.sign(self._key, hashes.SHA256()), self._key)

    def issue(self, file_name: str, subject: Subject) -> KeyPair:
        """A certificate for both ends of a connection: some actors are client and server."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _certificate(_x509_name(subject), self._name, key.public_key())
        usages = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH])
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(_usage(is_authority=False), critical=True)
        builder = builder.add_extension(usages, critical=False)
        if subject.hosts:
            names = x509.SubjectAlternativeName([_host_name(host) for host in subject.hosts])
            builder = builder.add_extension(names, critical=False)
        pair = KeyPair(self.folder / f"{file_name}.crt", self.folder / f"{file_name}.key")
        _write_pair(pair, builder.sign(self._key, hashes.SHA256()), key)
        return pair


def service_account_keys(folder: Path) -> tuple[Path, Path]:
    """The private and public key of service-account tokens."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private, public = folder / "service-account.key", folder / "service-account.pub"
    _write_private(private, _private_bytes(key))
    public.write_bytes(key.public_key().public_bytes(_PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    return private, public


def _certificate(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(tz=dt.UTC)  # noqa: TID251 - certificates are valid from the wall clock on
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + _VALID_FOR)
    )


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not is_authority,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )


def _x509_name(subject: Subject) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in subject.groups]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, subject.name)])


def _host_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write_pair(pair: KeyPair, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    pair.certificate.write_bytes(certificate.public_bytes(_PEM))
    _write_private(pair.key, _private_bytes(key))


def _private_bytes(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(_PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption())


def _write_private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_bytes(content)
