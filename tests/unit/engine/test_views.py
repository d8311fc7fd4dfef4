import json
from typing import Any

import pytest

from firebolt_operator.engine.views import PodView, decode_pod, decode_statefulset, generation_number


def a_pod(**status: Any) -> PodView:
    pod = {
        "metadata": {
            "name": "eng-g3-0",
            "namespace": "ns",
            "labels": {"firebolt.io/engine": "eng", "firebolt.io/generation": "3"},
            "ownerReferences": [{"uid": "other"}, {"uid": "sts", "controller": True}],
        },
        "status": {"phase": "Running", "podIP": "10.0.0.7", **status},
    }
    return decode_pod(json.dumps(pod).encode())


READY = {"type": "Ready", "status": "True"}


def test_a_ready_pod() -> None:
    assert a_pod(conditions=[READY]) == PodView(
        namespace="ns",
        name="eng-g3-0",
        engine="eng",
        generation=3,
        owner_uid="sts",
        is_running=True,
        is_ready=True,
        is_deleting=False,
        ip="10.0.0.7",
        trouble="",
    )


def test_ready_without_running_is_not_ready() -> None:
    assert not a_pod(phase="Pending", conditions=[READY]).is_ready


def container(**fields: Any) -> list[dict[str, Any]]:
    return [{"name": "engine", "ready": False, "restartCount": 4, **fields}]


@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        pytest.param({}, "", id="nothing-to-say"),
        pytest.param(
            {
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3\nnodes"}
                ]
            },
            "Unschedulable: 0/3 nodes",
            id="unschedulable",
        ),
        pytest.param(
            {
                "containerStatuses": container(
                    state={"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
                )
            },
            "container engine: ImagePullBackOff: no such image",
            id="image",
        ),
        pytest.param(
            {
                "containerStatuses": container(
                    state={"waiting": {"reason": "CrashLoopBackOff"}},
                    lastState={"terminated": {"reason": "OOMKilled", "exitCode": 137}},
                )
            },
            "container engine: CrashLoopBackOff; last exit OOMKilled: code 137",
            id="crash-loop-with-its-cause",
        ),
        pytest.param(
            {"containerStatuses": container(lastState={"terminated": {"reason": "Error", "exitCode": 2}})},
            "container engine: restarted 4 time(s); last exit Error: code 2",
            id="restarted-and-not-yet-ready",
        ),
        pytest.param(
            {"containerStatuses": container(state={"waiting": {"reason": "ContainerCreating"}})}, "", id="only-starting"
        ),
        pytest.param({"phase": "Failed", "reason": "Evicted", "message": "disk"}, "Evicted: disk", id="evicted"),
    ],
)
def test_a_pod_in_trouble_says_why(status: dict[str, Any], trouble: str) -> None:
    assert a_pod(**status).trouble == trouble


@pytest.mark.parametrize(
    ("text", "expected"), [("0", 0), ("12", 12), ("", None), ("-1", None), ("x", None), ("²", None)]
)
def test_generation_numbers(text: str, expected: int | None) -> None:
    assert generation_number(text) == expected


def test_of_managed_fields_only_our_apply_is_kept() -> None:
    body = json.loads(a_statefulset_of("a"))
    body["metadata"]["managedFields"] = [
        {"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:spec": {"f:a": {}}}},
        {"manager": "firebolt-operator", "operation": "Update", "fieldsV1": {"f:spec": {"f:b": {}}}},
        {"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": {"f:metadata": {}, "f:spec": {"f:c": {}}}},
    ]
    assert json.loads(decode_statefulset(json.dumps(body).encode()).applied) == {"f:spec": {"f:c": {}}}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({}, False, id="nobody-came-yet"),
        pytest.param({"observedGeneration": 1}, False, id="before-the-last-edit"),
        pytest.param({"observedGeneration": 2}, True, id="seen"),
    ],
)
def test_whether_a_statefulsets_controller_has_come_to_it(status: dict[str, int], expected: bool) -> None:
    body = {"metadata": {"name": "eng-g0", "generation": 2}, "status": status}
    assert decode_statefulset(json.dumps(body).encode()).is_observed is expected


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        pytest.param(container(state={"running": {}}), False, id="it-runs"),
        pytest.param(container(state={"waiting": {"reason": "CrashLoopBackOff"}}), True, id="it-waits-to-be-restarted"),
        pytest.param(container(state={"terminated": {"exitCode": 137}}), True, id="it-was-killed"),
        pytest.param([{"name": "side", "state": {"terminated": {"exitCode": 1}}}], False, id="another-container-ended"),
        pytest.param([], False, id="nothing-is-known"),
    ],
)
def test_whether_the_engine_of_a_pod_has_ended(containers: list[dict[str, Any]], expected: bool) -> None:
    assert a_pod(containerStatuses=containers).engine_ended is expected


def a_statefulset_of(engine: str, image: str = "engine:1") -> bytes:
    owner = {"apiVersion": "compute.firebolt.io/v1alpha1", "kind": "FireboltEngine", "name": engine, "uid": engine}
    fields = {"f:metadata": {"f:ownerReferences": {f'k:{{"uid":"{engine}"}}': {}}}, "f:spec": {"f:replicas": {}}}
    metadata = {
        "name": f"{engine}-g0",
        "ownerReferences": [owner | {"controller": True}],
        "managedFields": [{"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": fields}],
    }
    template = {"spec": {"containers": [{"name": "engine", "image": image}]}}
    spec = {"replicas": 2, "updateStrategy": {"type": "OnDelete"}, "template": template}
    return json.dumps({"metadata": metadata, "spec": spec}).encode()


def test_of_a_statefulset_the_template_is_kept_as_text_and_found_again() -> None:
    kept = decode_statefulset(a_statefulset_of("a"))
    assert "template" not in kept.spec
    assert kept.whole_spec() == json.loads(a_statefulset_of("a"))["spec"]
    assert kept != decode_statefulset(a_statefulset_of("a", image="engine:2"))


def test_what_statefulsets_of_two_engines_say_alike_is_kept_once() -> None:
    one, other = (decode_statefulset(a_statefulset_of(name)) for name in ("a", "b"))
    assert one.spec["updateStrategy"] is other.spec["updateStrategy"]
    assert one.applied is other.applied
