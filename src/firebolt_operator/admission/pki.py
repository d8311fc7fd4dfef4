"""How are authorities and certificates made, and what is in the ones that are there?"""

import hashlib
import ipaddress
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from firebolt_operator.admission.decide.renewal import BACKDATED, Authority, Held, Serving, Span

_PEM: Final = serialization.Encoding.PEM
_CERTIFICATE: Final = re.compile(b"-----BEGIN CERTIFICATE-----[^-]++-----END CERTIFICATE-----\n?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    certificate: bytes  # PEM, like the key
    key: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything that the Secret holds, as PEM; empty where it holds nothing."""

    authorities: tuple[bytes, ...] = ()  # the newest last
    authority_key: bytes = b""
    serving: Pair = Pair(certificate=b"", key=b"")

    @property
    def bundle(self) -> bytes:
        return b"".join(self.authorities)


def new_authority(now: datetime, life: timedelta) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    # A name of its own: whoever verifies finds the right one of several by it.
    name = _name(f"firebolt-operator webhooks {x509.random_serial_number():x}"[:64])
    builder = _builder(name, name, key.public_key(), now, life)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(is_authority=True), critical=True)
    return _pair(builder.sign(key, hashes.SHA256()), key)


def new_serving(authority: Pair, names: frozenset[str], now: datetime, life: timedelta) -> Pair:
    """For that long, but never beyond the authority's own end: nobody would take it any more."""
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    life = min(life, issuer.not_valid_after_utc - now)
    issuer_key = _loaded_key(authority.key)
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(_name("firebolt-operator-webhook"), issuer.subject, key.public_key(), now, life)
    alternatives = x509.SubjectAlternativeName([_alternative(name) for name in sorted(names)])
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(is_authority=False), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    builder = builder.add_extension(alternatives, critical=False)
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    builder = builder.add_extension(identifier, critical=False)
    return _pair(builder.sign(issuer_key, hashes.SHA256()), key)


def split_bundle(bundle: bytes) -> tuple[bytes, ...]:
    """Those that can be read; anything else in it is left out."""
    found = (match.rstrip() + b"\n" for match in _CERTIFICATE.findall(bundle))
    return tuple(dict.fromkeys(pem for pem in found if _loaded(pem) is not None))


def inspect_material(material: Material) -> Held:
    authorities = [x509.load_pem_x509_certificate(pem) for pem in material.authorities]
    key = _optional_key(material.authority_key)
    has_key = bool(authorities) and key is not None and key.public_key() == authorities[-1].public_key()
    return Held(
        authorities=tuple(authority_of(pem) for pem in material.authorities),
        has_key=has_key,
        serving=_serving(material.serving, authorities),
    )


def authority_of(pem: bytes) -> Authority:
    certificate = x509.load_pem_x509_certificate(pem)
    return Authority(fingerprint=_fingerprint(certificate), span=_span(certificate))


def _serving(pair: Pair, authorities: list[x509.Certificate]) -> Serving | None:
    certificate, key = _loaded(pair.certificate), _optional_key(pair.key)
    if certificate is None or key is None or key.public_key() != certificate.public_key():
        return None
    issuer = next((_fingerprint(each) for each in authorities if _has_signed(each, certificate)), "")
    return Serving(issuer=issuer, names=_names_of(certificate), span=_span(certificate))


def _has_signed(authority: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _names_of(certificate: x509.Certificate) -> frozenset[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return frozenset()
    return frozenset([*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _loaded(pem: bytes) -> x509.Certificate | None:
    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError:
        return None


def _optional_key(pem: bytes) -> ec.EllipticCurvePrivateKey | None:
    try:
        return _loaded_key(pem)
    except (ValueError, TypeError):
        return None


def _loaded_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("the key is none of ours")
    return key


def _fingerprint(certificate: x509.Certificate) -> str:
    return hashlib.sha256(certificate.public_bytes(serialization.Encoding.DER)).hexdigest()


def _span(certificate: x509.Certificate) -> Span:
    return Span(made_at=certificate.not_valid_before_utc + BACKDATED, until=certificate.not_valid_after_utc)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    private = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return Pair(certificate=certificate.public_bytes(_PEM), key=private)
