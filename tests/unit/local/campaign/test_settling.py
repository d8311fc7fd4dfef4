"""Is it seen what Kubernetes has still to do, however slow it is?"""

from typing import Any

import pytest

from firebolt_local.campaign.judge.settling import unsettled
from firebolt_operator.refs import Manifest

Objects = dict[tuple[str, str], Manifest]


def a_pod(name: str, *, is_ready: bool = True, **metadata: Any) -> Manifest:
    conditions = [{"type": "Ready", "status": str(is_ready)}]
    wanted = {"name": name, "uid": name, "labels": {"app": "eng"}, **metadata}
    return {"kind": "Pod", "metadata": wanted, "status": {"conditions": conditions, "podIP": "10.0.0.1"}}


def a_workload(*, generation: int = 2, replicas: int = 2, status: Manifest | None = None) -> Manifest:
    metadata = {"name": "eng", "uid": "s", "generation": generation}
    seen = {"observedGeneration": 2, "replicas": 2} if status is None else status
    return {"kind": "StatefulSet", "metadata": metadata, "spec": {"replicas": replicas}, "status": seen}


def a_service(**spec: Any) -> Manifest:
    return {"kind": "Service", "metadata": {"name": "eng", "uid": "v"}, "spec": {"selector": {"app": "eng"}, **spec}}


def a_slice(*pods: str) -> Manifest:
    endpoints = [{"targetRef": {"name": pod}, "conditions": {"ready": True}} for pod in pods]
    metadata = {"name": "eng-x", "uid": "e", "labels": {"kubernetes.io/service-name": "eng"}}
    return {"kind": "EndpointSlice", "metadata": metadata, "endpoints": endpoints}


def a_world(*objects: Manifest) -> Objects:
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


def owned(uid: str) -> list[Manifest]:
    return [{"kind": "FireboltEngine", "name": "eng", "uid": uid}]


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param((a_pod("a"), a_pod("b"), a_workload(), a_service(), a_slice("a", "b")), id="everything-is-done"),
        pytest.param((a_pod("a", is_ready=False), a_service(), a_slice()), id="a-pod-that-never-gets-ready"),
        pytest.param((a_pod("a"), a_pod("b", ownerReferences=owned("a"))), id="an-owner-that-is-there"),
        pytest.param((a_pod("a"), a_service(selector=None)), id="a-service-that-selects-nothing"),
        pytest.param((a_workload(replicas=0, status={"observedGeneration": 2}),), id="nobody-is-wanted"),
    ],
)
def test_nothing_is_left_to_do(objects: tuple[Manifest, ...]) -> None:
    assert unsettled(a_world(*objects)) == []


@pytest.mark.parametrize(
    ("objects", "words"),
    [
        ((a_pod("a", deletionTimestamp="now"),), "Pod a is being deleted"),
        ((a_pod("a", ownerReferences=owned("gone")),), "Pod a waits for the garbage collector"),
        ((a_workload(generation=3),), "StatefulSet eng was edited, and its controller has not seen it"),
        ((a_workload(replicas=3),), "StatefulSet eng has not the number of pods it wants"),
        ((a_pod("a"), a_service(), a_slice()), "Service eng does not lead to its pods yet"),
        ((a_service(), a_slice("a")), "Service eng does not lead to its pods yet"),
        (
            (a_pod("a", is_ready=False), a_service(publishNotReadyAddresses=True), a_slice()),
            "Service eng does not lead to its pods yet",
        ),
    ],
)
def test_something_is(objects: tuple[Manifest, ...], words: str) -> None:
    assert unsettled(a_world(*objects)) == [words]
