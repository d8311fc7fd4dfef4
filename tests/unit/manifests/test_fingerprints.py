"""Fingerprints follow the key, not the certificate around it, and nothing that is no certificate raises."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from firebolt_operator.manifests.fingerprints import blob_fingerprint, public_key_fingerprint

NAME = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "firebolt-jwt-signing")])


def certificate(key: ec.EllipticCurvePrivateKey) -> str:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    made = (
        x509.CertificateBuilder(NAME, NAME, key.public_key(), x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=1))
        .sign(key, SHA256())
    )
    return made.public_bytes(Encoding.PEM).decode()


def test_a_renewed_certificate_keeps_its_fingerprint_and_another_key_has_another() -> None:
    key, other = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    first, renewed = certificate(key), certificate(key)
    assert first != renewed
    assert (
        public_key_fingerprint(first) == public_key_fingerprint(renewed) != public_key_fingerprint(certificate(other))
    )
    assert public_key_fingerprint(first + certificate(other)) == public_key_fingerprint(first)
    assert len(public_key_fingerprint(first)) == 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no certificate",
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
        "-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ],
)
def test_what_is_no_certificate_has_none(text: str) -> None:
    assert public_key_fingerprint(text) == ""


def test_white_space_around_a_text_does_not_matter() -> None:
    assert blob_fingerprint("  CA-B\n") == blob_fingerprint("CA-B") != blob_fingerprint("CA-C")
