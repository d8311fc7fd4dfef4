"""What do the caches keep of objects that anybody may have made, and made large?"""

import json
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.names import LABEL_ENGINE, LABEL_INSTANCE
from firebolt_operator.engine.listener_views import decode_listener_certificate, decode_listener_secret
from firebolt_operator.engine.observe.caches import MOST_BYTES, engine_caches
from firebolt_operator.engine.views import Child, decode_child, decode_config_map, decode_statefulset
from firebolt_operator.errors import UnreadableError
from firebolt_operator.instance.views import decode_secret
from firebolt_operator.manifests.live_objects import decode_live

LARGE = "x" * 500_000
OWNER = {"apiVersion": "compute.firebolt.io/v1alpha1", "kind": "FireboltEngine", "name": "e", "uid": "u"}


def body(*owners: dict[str, Any], **fields: Any) -> bytes:
    metadata = {
        "name": "o",
        "namespace": "ns",
        "uid": "1",
        "resourceVersion": "7",
        "labels": {LABEL_ENGINE: "e", LABEL_INSTANCE: "i"},
        "annotations": {"a": "x" * 200_000},
        "ownerReferences": list(owners),
    }
    return json.dumps({"metadata": metadata, **fields}).encode()


def size(kept: object) -> int:
    return len(msgspec.json.encode(kept))


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(decode_config_map(body(data={"config.yaml": LARGE, "b": LARGE})), id="ConfigMap"),
        pytest.param(decode_child(body(spec={"externalName": LARGE})), id="Service"),
        pytest.param(decode_statefulset(body(spec={"template": LARGE})), id="StatefulSet"),
        pytest.param(decode_listener_certificate(body(spec={"secretName": LARGE})), id="Certificate"),
        pytest.param(
            decode_listener_secret(
                body(data={"tls.crt": LARGE, "ca.crt": LARGE, **dict.fromkeys(map(str, range(200)), "eA==")})
            ),
            id="Secret of a certificate",
        ),
        pytest.param(decode_live(body(data={"a": LARGE})), id="ConfigMap of an instance"),
        pytest.param(
            decode_secret(body(OWNER, data={"username": LARGE, **dict.fromkeys(map(str, range(9999)), "eA==")})).filled,
            id="Secret",
        ),
    ],
)
def test_of_what_nobody_of_ours_owns_little_is_kept(kept: object) -> None:
    assert size(kept) < 2_000


def test_of_a_config_map_of_ours_the_text_is_not_kept_and_still_compared() -> None:
    owner = {**OWNER, "controller": True}
    kept = decode_config_map(body(owner, data={"config.yaml": LARGE, "of somebody": LARGE}))
    assert size(kept.data) < 200
    assert kept.says({"data": {"config.yaml": LARGE}})
    assert not kept.says({"data": {"config.yaml": LARGE + "y"}})
    assert not kept.says({"data": {"another.yaml": LARGE}})


def test_what_an_engine_owns_is_kept() -> None:
    kept = decode_child(body({**OWNER, "controller": True}, spec={"replicas": 3}))
    assert isinstance(kept, Child)
    assert kept.spec == {"replicas": 3}
    assert kept.metadata.annotations


def test_an_engine_that_is_too_large_is_set_aside_with_its_labels() -> None:
    caches = engine_caches((), "")
    spec = {"instanceRef": "i", "replicas": 1, "customEngineConfig": {"a": "x" * MOST_BYTES}}
    listing = caches.engines.begin_list("", 9)
    caches.engines.listed(listing, body(OWNER, spec=spec))
    caches.engines.end_list(listing)
    (aside,) = caches.engines.set_aside()
    assert (aside.labels[LABEL_ENGINE], aside.owners) == ("e", frozenset({"u"}))
    with pytest.raises(UnreadableError):
        caches.engines.known(("ns", "o"))


def test_of_a_certificate_no_key_is_kept_whoever_owns_its_secret() -> None:
    owner, secrets = {**OWNER, "controller": True}, {"tls.key": "c2VjcmV0", "ca.crt": "Q0E=", "tls.crt": "Y2VydA=="}
    kept = decode_listener_secret(body(owner, data=secrets))
    assert kept.issued is not None
    assert kept.issued.filled == {"tls.key", "ca.crt", "tls.crt"}
    told = str(msgspec.to_builtins(kept))
    assert not [text for text in ("c2VjcmV0", "secret", "Q0E=") if text in told]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        pytest.param({"type": "Ready", "status": "True", "observedGeneration": 3}, 3, id="issued"),
        pytest.param({"type": "Ready", "status": "False", "observedGeneration": 3}, None, id="not-issued"),
        pytest.param({"type": "Issuing", "status": "True", "observedGeneration": 3}, None, id="on-its-way"),
        pytest.param({"type": "Ready", "status": "True"}, None, id="of-nobody-knows-which"),
    ],
)
def test_a_certificate_is_ready_for_the_generation_that_it_says(
    condition: dict[str, Any], expected: int | None
) -> None:
    kept = decode_listener_certificate(body({**OWNER, "controller": True}, status={"conditions": [condition]}))
    assert kept.ready_generation == expected
