"""Do our pods live in a namespace with Pod Security, as docs/security.md says? The API server is the judge."""

import json

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.gateway.objects import gateway_objects
from firebolt_operator.instance.render.metadata_service import metadata_deployment
from firebolt_operator.instance.render.postgres import postgres_statefulset
from firebolt_operator.refs import Manifest
from tests.support import gateways
from tests.support.engine_inputs import engine_inputs
from tests.support.instances import an_instance

SECCOMP: Manifest = {"spec": {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}}


def workloads(template: Manifest | None) -> dict[str, Manifest]:
    gateway = gateways.gateway_inputs(gateways.an_instance(template=template), wake=True)
    spec = None if template is None else {"template": template}
    return {
        "postgres": postgres_statefulset(an_instance(), "postgres:16-alpine"),
        "metadata": metadata_deployment(an_instance(), "metadata:1.0"),
        "gateway": gateway_objects(gateway).deployment,
        "engine": engine_statefulset(engine_inputs(spec), 0),
    }


def answer(plane: ControlPlane, namespace: str, workload: Manifest) -> str:
    """What the API server says to a pod of it: empty if it takes it."""
    template, claims = workload["spec"]["template"], workload["spec"].get("volumeClaimTemplates", [])
    claimed = [{"name": each["metadata"]["name"], "persistentVolumeClaim": {"claimName": "some"}} for each in claims]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "some", "labels": template["metadata"]["labels"]},
        "spec": {
            **template["spec"],
            "serviceAccountName": "some",
            "volumes": [*template["spec"]["volumes"], *claimed],
        },
    }
    path = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"
    status, text = plane.http.text("POST", path, json.dumps(pod))
    return "" if status == 201 else text


def enforce(plane: ControlPlane, namespace: str, level: str) -> None:
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": level}}}
    plane.http.patch(f"/api/v1/namespaces/{namespace}", label)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "some"}}
    plane.http.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", account)


@pytest.mark.parametrize(
    ("level", "template", "refused"),
    [
        pytest.param("baseline", None, set[str](), id="baseline"),
        pytest.param("restricted", SECCOMP, set[str](), id="restricted-with-a-seccomp-profile"),
        pytest.param("restricted", None, {"gateway", "engine"}, id="restricted-without"),
    ],
)
def test_pods_and_pod_security(
    control_plane: ControlPlane, namespace: str, level: str, template: Manifest | None, refused: set[str]
) -> None:
    enforce(control_plane, namespace, level)
    answers = {name: answer(control_plane, namespace, workload) for name, workload in workloads(template).items()}
    said = {name: text for name, text in answers.items() if text}
    assert {name for name, text in said.items() if "violates PodSecurity" in text} == refused, said
    assert said.keys() == refused


def test_a_template_that_reaches_the_node_is_refused_by_the_baseline(
    control_plane: ControlPlane, namespace: str
) -> None:
    """What no check of ours refuses: that is why docs/security.md asks for Pod Security."""
    enforce(control_plane, namespace, "baseline")
    storage = {"storage": {"hostPath": {"path": "/"}}}
    assert "violates PodSecurity" in answer(control_plane, namespace, engine_statefulset(engine_inputs(storage), 0))
