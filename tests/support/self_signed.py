"""Certificates and revocation lists that sign themselves."""

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

Key = ec.EllipticCurvePrivateKey
NAME = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "firebolt")])
START = datetime(2026, 1, 1, tzinfo=UTC)
LIFETIME = timedelta(days=3650)


def a_private_key() -> Key:
    return ec.generate_private_key(ec.SECP384R1())


def self_signed(key: Key) -> str:
    builder = x509.CertificateBuilder(NAME, NAME, key.public_key(), x509.random_serial_number())
    dated = builder.not_valid_before(START).not_valid_after(START + LIFETIME)
    return dated.sign(key, SHA256()).public_bytes(Encoding.PEM).decode()


def revocations(key: Key) -> str:
    builder = x509.CertificateRevocationListBuilder(NAME, START, START + LIFETIME)
    return builder.sign(key, SHA256()).public_bytes(Encoding.PEM).decode()


def private_pem(key: Key) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
