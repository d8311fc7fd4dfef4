"""Fingerprints follow the key, not the certificate around it, and nothing that is no certificate raises."""

import pytest

from firebolt_operator.manifests.fingerprints import blob_fingerprint, public_key_fingerprint
from tests.support.self_signed import a_private_key, self_signed


def test_a_renewed_certificate_keeps_its_fingerprint_and_another_key_has_another() -> None:
    key, other = a_private_key(), a_private_key()
    first, renewed = self_signed(key), self_signed(key)
    assert first != renewed
    assert (
        public_key_fingerprint(first) == public_key_fingerprint(renewed) != public_key_fingerprint(self_signed(other))
    )
    assert public_key_fingerprint(first + self_signed(other)) == public_key_fingerprint(first)
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
