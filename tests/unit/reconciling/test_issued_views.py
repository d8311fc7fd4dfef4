"""What is kept of Certificates and of Secrets with keys: all that is decided from, and nothing that is secret."""

import base64
import json
from typing import Any

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from firebolt_operator.manifests.fingerprints import public_key_fingerprint
from firebolt_operator.reconciling.issued_views import (
    MOST_AUTHORITY,
    MOST_KEYS,
    decode_certificate,
    decode_gateway_secret,
    decode_generation_authority,
    decode_issued_secret,
)
from tests.support.self_signed import a_private_key, private_pem, revocations, self_signed

KEY, OTHER = a_private_key(), a_private_key()
SIGNED = self_signed(KEY)
FINGERPRINT = public_key_fingerprint(SIGNED)
CREATED = "2026-05-01T12:00:00Z"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def a_secret(data: dict[str, str] | None, **metadata: Any) -> bytes:
    meta = {
        "name": "s",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": CREATED,
        **metadata,
    }
    return msgspec.json.encode({"metadata": meta | metadata, "data": data})


def a_certificate(*conditions: dict[str, Any]) -> bytes:
    meta = {"name": "c", "namespace": "ns", "uid": "u", "generation": 3, "creationTimestamp": CREATED}
    return msgspec.json.encode({"metadata": meta, "spec": {"secretName": "c"}, "status": {"conditions": conditions}})


@pytest.mark.parametrize(
    ("certificate", "private", "expected"),
    [
        pytest.param(SIGNED, private_pem(KEY), FINGERPRINT, id="a-pair"),
        pytest.param(SIGNED, private_pem(OTHER), public_key_fingerprint(self_signed(OTHER)), id="another-private-key"),
        pytest.param(SIGNED, "garbage", "", id="unreadable-private-key"),
        pytest.param("garbage", private_pem(KEY), "", id="unreadable-certificate"),
        pytest.param(SIGNED, "", FINGERPRINT, id="no-private-key"),
    ],
)
def test_a_public_key_is_that_of_the_private_key_which_programs_would_use(
    certificate: str, private: str, expected: str
) -> None:
    data = {"tls.crt": encoded(certificate), "tls.key": encoded(private)}
    assert decode_issued_secret(a_secret(data)).public_key == expected


def test_of_a_key_pair_only_what_is_public_is_kept() -> None:
    key = a_private_key()
    text = {"tls.key": private_pem(key), "tls.crt": self_signed(key), "ca.crt": "an authority"}
    kept = decode_issued_secret(
        a_secret(
            {name: encoded(value) for name, value in text.items()},
            annotations={"cert-manager.io/certificate-name": "s"},
        )
    )
    assert kept.has("tls.key", "tls.crt", "ca.crt")
    assert (kept.uid, kept.version, kept.issued_for, kept.authority) == ("u", "7", "s", "an authority")
    assert kept.public_key == public_key_fingerprint(text["tls.crt"])
    assert len(kept.public_key) == 64
    secret_lines = private_pem(key).splitlines()[1:-1]
    assert not [line for line in secret_lines if line in repr(kept) or encoded(line)[:-4] in repr(kept)]


def test_a_password_is_not_kept_only_that_there_is_one() -> None:
    kept = decode_issued_secret(a_secret({"password": encoded("hunter2"), "empty": ""}))
    assert kept.filled == {"password"}
    assert "hunter2" not in repr(kept)
    assert encoded("hunter2") not in repr(kept)


def test_what_is_no_certificate_has_no_fingerprint() -> None:
    for text in ("", "@@@", encoded("nothing"), encoded("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----")):
        assert decode_issued_secret(a_secret({"tls.crt": text, "tls.key": "eA=="})).public_key == ""
    assert decode_issued_secret(a_secret(None)).filled == frozenset()


def test_of_a_secret_with_a_thousand_keys_only_ours_are_told() -> None:
    many = {f"key-{number}": "eA==" for number in range(MOST_KEYS)}
    assert decode_issued_secret(a_secret({**many, "tls.key": "eA=="})).filled == {"tls.key"}
    assert len(decode_issued_secret(a_secret(many)).filled) == MOST_KEYS


def test_a_certificate_is_ready_only_for_the_generation_that_was_issued() -> None:
    ready = {"type": "Ready", "status": "True", "observedGeneration": 3}
    rows = {
        "issued": ((ready,), True),
        "of an earlier spec": (({**ready, "observedGeneration": 2},), False),
        "not ready": (({**ready, "status": "False"},), False),
        "issuing": (({"type": "Issuing", "status": "True", "observedGeneration": 3},), False),
        "new": ((), False),
    }
    found = {
        name: decode_certificate(a_certificate(*conditions)).issued.is_ready for name, (conditions, _) in rows.items()
    }
    assert found == {name: expected for name, (_, expected) in rows.items()}


def test_a_certificate_that_nobody_of_ours_made_is_only_known_to_be_there() -> None:
    assert decode_certificate(a_certificate()).content == {}


def test_a_list_of_what_was_revoked_counts_only_if_all_of_it_can_be_read() -> None:
    key = a_private_key()
    one, other = revocations(key), revocations(key)
    spoilt = "-----BEGIN X509 CRL-----\nx\n-----END X509 CRL-----\n"
    sound = {"one": one, "two": one + other, "with words": f"of the first CA:\n{one}"}
    unsound = {"nothing": "", "words": "x", "spoilt": spoilt, "half": one + spoilt, "cut": one[:-30]}
    unsound["a certificate"] = one + self_signed(key)
    unsound["not text"] = x509.load_pem_x509_crl(one.encode()).public_bytes(Encoding.DER).decode(errors="replace")

    def found(text: str) -> bool:
        return bool(decode_gateway_secret(a_secret({"crl.pem": encoded(text)})).revocations)

    assert {name for name, text in (sound | unsound).items() if found(text)} == set(sound)


def test_of_a_generation_only_the_ca_is_kept_that_was_issued_for_it() -> None:
    def authority(text: str, **annotations: str) -> str:
        document = json.loads(a_secret({"ca.crt": encoded(text), "tls.key": encoded("secret")}))
        document["metadata"] |= {"labels": {"firebolt.io/engine": "eng"}, "annotations": annotations}
        found = decode_generation_authority(json.dumps(document).encode())
        assert found.engine == "eng"
        return found.text

    name = json.loads(a_secret(None))["metadata"]["name"]
    ours = {"cert-manager.io/certificate-name": name}
    assert authority("CA-A", **ours) == "CA-A"
    assert authority("CA-A") == ""
    assert authority("x" * (MOST_AUTHORITY + 1), **ours) == ""
