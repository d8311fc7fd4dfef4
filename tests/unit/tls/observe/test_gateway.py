"""What the gateway was given, and what it trusts: by the instance's own objects, and by no others of their names."""

import json
from collections.abc import Mapping

import pytest

from firebolt_operator.manifests.live_objects import LiveObject, decode_live
from firebolt_operator.tls.facts import GatewayRollout, GatewaySeen, TrustBundle, TrustedAuthority
from firebolt_operator.tls.observe.gateway import gateway_seen
from firebolt_operator.tls.render.trust_bundle import trust_bundle
from tests.support.instances import an_instance

BUNDLE = TrustBundle({"fp": TrustedAuthority("CA-A", frozenset({"eng-g1-engine-tls"}))}, 4)
COUNTS = {"observedGeneration": 5, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}


def deployment(owner: str = "uid-1", status: Mapping[str, int] = COUNTS) -> LiveObject:
    document = {
        "metadata": {
            "name": "inst-gateway",
            "namespace": "ns",
            "generation": 5,
            "annotations": {"firebolt.io/tls-revisions": "own=abc,inst-engine-ca-bundle=r4"},
            "ownerReferences": [{"kind": "FireboltInstance", "name": "inst", "uid": owner}],
        },
        "spec": {"replicas": 2, "template": {"metadata": {"annotations": {"firebolt.io/config-hash": "0123"}}}},
        "status": {**COUNTS, **status},
    }
    return decode_live(json.dumps(document).encode())


def bundle() -> LiveObject:
    return decode_live(json.dumps(trust_bundle(an_instance(), BUNDLE)).encode())


def test_what_is_ours_is_read() -> None:
    assert gateway_seen("uid-1", deployment(), bundle()) == GatewaySeen(
        rollout=GatewayRollout(config_hash="0123", is_complete=True),
        revisions={"own": "abc", "inst-engine-ca-bundle": "r4"},
        bundle=BUNDLE,
    )


def test_what_is_somebody_elses_says_nothing() -> None:
    assert gateway_seen("uid-1", deployment("uid-2"), None) == GatewaySeen()
    assert gateway_seen("uid-2", None, bundle()) == GatewaySeen()


@pytest.mark.parametrize(
    "status",
    [
        {"observedGeneration": 4},
        {"replicas": 3},
        {"updatedReplicas": 1},
        {"availableReplicas": 1},
        {"terminatingReplicas": 1},
    ],
    ids=str,
)
def test_a_rollout_that_is_not_over(status: dict[str, int]) -> None:
    """A pod that is leaving still serves whoever is connected to it."""
    rollout = gateway_seen("uid-1", deployment(status=status), None).rollout
    assert rollout == GatewayRollout(config_hash="0123", is_complete=False)
