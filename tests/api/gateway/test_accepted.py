"""Does a real API server take every object of a gateway as rendered, and keep what it was told?"""

import json

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.api import resources
from firebolt_operator.gateway.objects import gateway_objects
from firebolt_operator.manifests.subset import is_subset
from firebolt_operator.refs import Manifest, Resource
from tests.support.gateways import all_objects, an_instance, gateway_inputs

KINDS = {each.kind: each for each in vars(resources).values() if isinstance(each, Resource)}
APPLY = "application/apply-patch+yaml"
TEMPLATE = {
    "metadata": {"labels": {"team": "data"}, "annotations": {"note": "x"}},
    "spec": {
        "dnsPolicy": "ClusterFirst",
        "tolerations": [{"key": "spot", "operator": "Exists"}],
        "volumes": [{"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}}],
        "containers": [
            {"name": "envoy", "image": "mine/envoy:v2", "resources": {"limits": {"cpu": "0.5", "memory": "1Gi"}}},
            {"name": "logs", "image": "logs:v1"},
        ],
    },
}


def applied(plane: ControlPlane, manifest: Manifest) -> Manifest:
    """Server-side apply that forgives no unknown field."""
    kind = KINDS[manifest["kind"]]
    group = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    place = f"{group}/namespaces/{manifest['metadata']['namespace']}/{kind.plural}/{manifest['metadata']['name']}"
    query = "fieldManager=firebolt-operator&force=true&fieldValidation=Strict"
    status, answer = plane.http.text("PATCH", f"{place}?{query}", json.dumps(manifest), APPLY)
    assert status in {200, 201}, answer
    live: Manifest = json.loads(answer)
    return live


@pytest.mark.parametrize(
    ("template", "wake"),
    [
        pytest.param(None, False, id="plain"),
        pytest.param(None, True, id="wake"),
        pytest.param(TEMPLATE, True, id="template"),
        pytest.param({"spec": {"serviceAccountName": "mine"}}, True, id="account-of-the-users"),
    ],
)
def test_given_a_gateway_when_applied_twice_then_nothing_is_lost_and_nothing_changes(
    control_plane: ControlPlane, namespace: str, template: Manifest | None, wake: bool
) -> None:
    inputs = gateway_inputs(an_instance("i" * 51, namespace, template=template), wake=wake)
    for manifest in all_objects(gateway_objects(inputs)):
        live = applied(control_plane, manifest)
        assert is_subset(manifest, live), manifest["kind"]
        again = applied(control_plane, manifest)
        assert again["metadata"].get("generation") == live["metadata"].get("generation")
