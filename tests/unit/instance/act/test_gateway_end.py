"""How long may the pods of a deleted instance's gateway take, and which pods are its own?"""

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from firebolt_operator.api import names
from firebolt_operator.api.model import ObjectMeta, OwnerReference
from firebolt_operator.api.resources import DEPLOYMENTS, PODS
from firebolt_operator.instance.act.gateway_end import (
    GatewayPod,
    PodMeta,
    PodSpec,
    decide_grace,
    end_gateway,
    is_gateway_pod,
    is_waited_for,
)
from firebolt_operator.manifests.live_objects import LiveObject
from tests.support.gateways import an_instance
from tests.support.instances import an_instance as a_stored_instance
from tests.support.memory_server import MemoryServer

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


LABELS = {names.LABEL_INSTANCE: "inst", names.LABEL_COMPONENT: names.COMPONENT_GATEWAY, "pod-template-hash": "abc"}


def put_pod(server: MemoryServer, name: str) -> None:
    owner = OwnerReference(kind="ReplicaSet", name="inst-gateway-abc", uid="u", controller=True)
    metadata = PodMeta(name=name, namespace="ns", uid=f"uid-{name}", labels=dict(LABELS), owner_references=[owner])
    spec = PodSpec(termination_grace_period_seconds=DAY)
    server.objects[PODS, name] = GatewayPod(metadata=metadata, spec=spec)


def put_deployment(server: MemoryServer, *, owner: str = "uid-1", deleted_at: datetime | None = None) -> None:
    metadata = ObjectMeta(
        name="inst-gateway",
        namespace="ns",
        uid="uid-deployment",
        owner_references=[OwnerReference(kind="x", name="x", uid=owner)],
        deletion_timestamp=deleted_at,
    )
    server.objects[DEPLOYMENTS, "inst-gateway"] = LiveObject(metadata=metadata, content={}, owned={})


async def end(server: MemoryServer) -> int:
    instance = a_stored_instance(meta={"deletionTimestamp": "2026-01-01T12:00:00Z"})
    return await end_gateway(instance, cast("Any", server), cast("Any", server))


async def test_the_deployment_goes_before_its_pods_since_it_would_replace_them() -> None:
    server = MemoryServer()
    put_deployment(server)
    put_pod(server, "one")
    put_pod(server, "two")
    assert await end(server) == 2
    assert server.deleted == [
        ("Deployment", "inst-gateway", "uid-deployment", ""),
        ("Pod", "one", "uid-one", ""),
        ("Pod", "two", "uid-two", ""),
    ]
    assert server.graces == {"one": 60, "two": 60}


@pytest.mark.parametrize("deleted_at", [pytest.param(None, id="gone"), pytest.param(DELETED_AT, id="on-its-way-out")])
async def test_pods_that_outlive_their_deployment_are_told_too(deleted_at: datetime | None) -> None:
    server = MemoryServer()
    if deleted_at is not None:
        put_deployment(server, deleted_at=deleted_at)
    put_pod(server, "one")
    assert await end(server) == 1
    assert server.deleted == [("Pod", "one", "uid-one", "")]


async def test_a_deployment_of_somebody_else_keeps_its_pods_and_nobody_waits_for_them() -> None:
    server = MemoryServer()
    put_deployment(server, owner="another")
    put_pod(server, "one")
    assert await end(server) == 0
    assert server.deleted == []


async def test_pods_of_other_parts_and_other_owners_stay() -> None:
    server = MemoryServer()
    put_pod(server, "of-another-component")
    server.objects[PODS, "of-another-component"].metadata.labels[names.LABEL_COMPONENT] = "metadata"
    put_pod(server, "of-another-instance")
    server.objects[PODS, "of-another-instance"].metadata.labels[names.LABEL_INSTANCE] = "other"
    put_pod(server, "of-nobody")
    server.objects[PODS, "of-nobody"].metadata.owner_references.clear()
    assert await end(server) == 0
    assert server.deleted == []


async def test_a_pod_that_leaves_soon_enough_is_waited_for_and_left_alone() -> None:
    server = MemoryServer()
    put_pod(server, "one")
    leaving = a_pod(15, began=timedelta(0), grace=15)
    labelled = server.objects[PODS, "one"].metadata
    server.objects[PODS, "one"] = GatewayPod(
        metadata=PodMeta(
            name="one",
            namespace="ns",
            labels=labelled.labels,
            owner_references=labelled.owner_references,
            deletion_timestamp=leaving.metadata.deletion_timestamp,
            deletion_grace_period_seconds=15,
        )
    )
    assert await end(server) == 1
    assert server.deleted == []


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [pytest.param(0, True, id="at-once"), pytest.param(64.9, True), pytest.param(65, False, id="a-node-may-be-gone")],
)
def test_how_long_an_instance_waits_for_its_gateways(seconds: float, expected: bool) -> None:
    instance = a_stored_instance(meta={"deletionTimestamp": "2026-01-01T12:00:00Z"})
    assert is_waited_for(instance, DELETED_AT + timedelta(seconds=seconds)) is expected


def test_an_instance_that_is_not_deleted_waits_for_nothing() -> None:
    assert not is_waited_for(a_stored_instance(), DELETED_AT)
