"""What is kept of Certificates and of Secrets with keys: all that is decided from, and nothing that is secret."""

import base64
from typing import Any

import msgspec

from firebolt_operator.auth.views import MOST_KEYS, decode_certificate, decode_issued_secret
from firebolt_operator.manifests.fingerprints import public_key_fingerprint
from tests.support.self_signed import a_private_key, private_pem, self_signed

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
