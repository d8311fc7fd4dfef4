"""Where does the API server keep what we ask for?"""

import pytest

from firebolt_operator.kube.paths import creation_path, list_path, object_path, pod_proxy_path
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Ref, Resource
from tests.unit.kube.wire import PODS

ENGINES = Resource("compute.firebolt.io", "v1alpha1", "fireboltengines", "FireboltEngine")
CLUSTER_ROLES = Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False)


@pytest.mark.parametrize(
    ("ref", "subresource", "expected"),
    [
        pytest.param(Ref(PODS, "shop", "web-0"), "", "/api/v1/namespaces/shop/pods/web-0", id="core-group"),
        pytest.param(
            Ref(ENGINES, "shop", "e"),
            "status",
            "/apis/compute.firebolt.io/v1alpha1/namespaces/shop/fireboltengines/e/status",
            id="group-and-subresource",
        ),
        pytest.param(
            Ref(CLUSTER_ROLES, "", "system:node"),
            "",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node",
            id="cluster-scoped-name-with-a-colon",
        ),
        pytest.param(
            Ref(PODS, "shop", "../secrets/x?y"),
            "",
            "/api/v1/namespaces/shop/pods/..%2Fsecrets%2Fx%3Fy",
            id="a-hostile-name-stays-one-segment",
        ),
    ],
)
def test_object_path(ref: Ref, subresource: str, expected: str) -> None:
    assert object_path(ref, subresource) == expected


@pytest.mark.parametrize(
    "ref",
    [
        pytest.param(Ref(PODS, "shop", ""), id="no-name-would-be-the-whole-collection"),
        pytest.param(Ref(PODS, "", "web-0"), id="no-namespace"),
        pytest.param(Ref(CLUSTER_ROLES, "shop", "x"), id="a-namespace-too-many"),
    ],
)
def test_what_is_not_one_object_has_no_object_path(ref: Ref) -> None:
    with pytest.raises(RuntimeError, match="not the name of one object"):
        object_path(ref)


def test_nothing_is_created_without_a_namespace() -> None:
    with pytest.raises(RuntimeError, match="nowhere to create"):
        creation_path(Ref(PODS, "", "web-0"))


def test_selectors_are_encoded_and_empty_ones_left_out() -> None:
    scope = Scope(resource=PODS, namespace="shop", labels="app in (a,b),!old")
    assert list_path(scope, {"limit": "500", "continue": ""}) == (
        "/api/v1/namespaces/shop/pods?labelSelector=app+in+%28a%2Cb%29%2C%21old&limit=500"
    )


def test_a_list_of_all_namespaces() -> None:
    assert list_path(Scope(resource=PODS), {}) == "/api/v1/pods"


@pytest.mark.parametrize("path", ["/metrics", "metrics"])
def test_pod_proxy_path(path: str) -> None:
    expected = "/api/v1/namespaces/shop/pods/web-0:9090/proxy/metrics"
    assert pod_proxy_path(Ref(PODS, "shop", "web-0"), 9090, path) == expected
