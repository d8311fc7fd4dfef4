"""How long may the pods of a deleted instance's gateway take, and which pods are its own?"""

from datetime import UTC, datetime, timedelta

import pytest

from firebolt_operator.api.model import ObjectMeta, OwnerReference
from firebolt_operator.instance.gateway_end import GatewayPod, PodMeta, PodSpec, decide_grace, is_gateway_pod
from tests.support.gateways import an_instance

DELETED_AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY = 86_400


def a_pod(own: int | None, *, began: timedelta | None = None, grace: int = 0) -> GatewayPod:
    """`began` is when its deletion began, counted from that of the instance."""
    ends_at = None if began is None else DELETED_AT + began + timedelta(seconds=grace)
    metadata = PodMeta(
        name="inst-gateway-abc-1",
        deletion_timestamp=ends_at,
        deletion_grace_period_seconds=None if began is None else grace,
    )
    return GatewayPod(metadata=metadata, spec=PodSpec(termination_grace_period_seconds=own))


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(a_pod(15), 15, id="its-own-grace-if-that-is-shorter"),
        pytest.param(a_pod(60), 60, id="a-minute-is-a-minute"),
        pytest.param(a_pod(DAY), 60, id="a-minute-instead-of-a-day"),
        pytest.param(a_pod(None), 30, id="what-kubernetes-would-give"),
        pytest.param(a_pod(DAY, began=timedelta(0), grace=60), None, id="told-already"),
        pytest.param(a_pod(15, began=timedelta(seconds=-5), grace=15), None, id="leaves-by-itself"),
        pytest.param(a_pod(DAY, began=timedelta(0), grace=DAY), 60, id="told-by-the-garbage-collector-with-a-day"),
        pytest.param(a_pod(DAY, began=timedelta(hours=-2), grace=DAY), 7260, id="a-minute-more-for-one-that-drains"),
        pytest.param(a_pod(DAY, began=timedelta(hours=-23), grace=DAY - 3600 - 30), None, id="drained-soon-anyway"),
        pytest.param(a_pod(DAY, began=timedelta(seconds=90), grace=DAY), 1, id="made-after-the-minute"),
    ],
)
def test_how_much_grace_a_pod_gets(pod: GatewayPod, expected: int | None) -> None:
    assert decide_grace(pod, DELETED_AT) == expected


@pytest.mark.parametrize(
    ("owner", "labels", "is_own"),
    [
        pytest.param("inst-gateway-abc", {"pod-template-hash": "abc"}, True, id="of-our-deployment"),
        pytest.param("inst-gateway-x-abc", {"pod-template-hash": "abc"}, False, id="of-another-deployment"),
        pytest.param("inst-gateway-abc", {}, False, id="of-no-deployment"),
        pytest.param(None, {"pod-template-hash": "abc"}, False, id="of-nobody"),
    ],
)
def test_a_label_makes_no_pod_ours(owner: str | None, labels: dict[str, str], is_own: bool) -> None:
    owners = [] if owner is None else [OwnerReference(kind="ReplicaSet", name=owner, uid="u", controller=True)]
    assert is_gateway_pod(an_instance(), ObjectMeta(labels=labels, owner_references=owners)) is is_own


def test_a_stateful_set_of_that_name_is_not_ours() -> None:
    owner = OwnerReference(kind="StatefulSet", name="inst-gateway-abc", uid="u", controller=True)
    found = ObjectMeta(labels={"pod-template-hash": "abc"}, owner_references=[owner])
    assert not is_gateway_pod(an_instance(), found)
