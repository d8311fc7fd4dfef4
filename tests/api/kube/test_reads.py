"""Does a real API server answer our reads the way the door promises?"""

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.errors import ConflictError, NotFoundError, TransientError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.kube.reviews import AccessQuestion, TokenOwner
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.api.kube.objects import (
    CONFIG_MAPS,
    PODS,
    a_config_map,
    a_pod,
    config_map_ref,
    config_maps_in,
    labelled,
)

LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")


async def test_what_does_not_exist_is_none(client: KubeClient, namespace: str) -> None:
    assert await client.get(config_map_ref(namespace)) is None
    assert await client.get_raw(config_map_ref("no-such-namespace")) is None


async def test_a_list_longer_than_a_page_is_whole(client: KubeClient, namespace: str) -> None:
    names = [f"settings-{number:02}" for number in range(25)]
    for name in names:
        await client.create(labelled(a_config_map(namespace, name)))
    pages = [page async for page in client.pages(config_maps_in(namespace), limit=10)]
    assert [len(page.items) for page in pages] == [10, 10, 5]
    assert len({page.resource_version for page in pages}) == 1
    listed = await client.list(config_maps_in(namespace))
    assert [each["metadata"]["name"] for each in listed] == names
    assert {(each["apiVersion"], each["kind"]) for each in listed} == {("v1", "ConfigMap")}


async def test_field_selectors_select(client: KubeClient, namespace: str) -> None:
    for name in ("one", "two"):
        await client.create(a_config_map(namespace, name))
    scope = Scope(resource=CONFIG_MAPS, namespace=namespace, fields="metadata.name=two")
    assert [each["metadata"]["name"] for each in await client.list(scope)] == ["two"]


async def test_a_kind_nobody_serves_is_not_found(client: KubeClient, namespace: str) -> None:
    unknown = Resource("nobody.example", "v1", "nothings", "Nothing")
    with pytest.raises(NotFoundError):
        await client.list(Scope(resource=unknown, namespace=namespace))


async def test_discovery_names_what_is_served(client: KubeClient) -> None:
    offered = await client.resources("apps/v1")
    assert Resource("apps", "v1", "statefulsets", "StatefulSet") in offered
    assert not any("/" in each.plural for each in offered)
    assert await client.resources("nobody.example/v1") == ()


async def test_a_pod_that_cannot_be_reached_is_transient_and_says_why(client: KubeClient, namespace: str) -> None:
    await client.create(a_pod(namespace))
    with pytest.raises(TransientError, match=f"asking Pod {namespace}/web-0 port 9090 for /metrics: HTTP "):
        await client.pod_proxy_get(Ref(PODS, namespace, "web-0"), 9090, "/metrics", timeout=5)
    with pytest.raises(TransientError, match=r'HTTP 404: .*pods \\"absent\\" not found'):
        await client.pod_proxy_get(Ref(PODS, namespace, "absent"), 9090, "/metrics")


async def test_a_lease_is_taken_and_a_stale_renewal_conflicts(client: KubeClient, namespace: str) -> None:
    ref = Ref(LEASES, namespace, "leader")
    assert await client.leases.get(ref, timeout_seconds=5) is None
    manifest: Manifest = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "leader", "namespace": namespace},
        "spec": {"holderIdentity": "one", "leaseDurationSeconds": 15},
    }
    taken = await client.leases.create(manifest, timeout_seconds=5)
    renewed = await client.leases.update(taken | {"spec": {"holderIdentity": "two"}}, timeout_seconds=5)
    assert await client.leases.get(ref, timeout_seconds=5) == renewed
    with pytest.raises(ConflictError):
        await client.leases.update(taken, timeout_seconds=5)


async def test_tokens_and_rights_are_reviewed(client: KubeClient, control_plane: ControlPlane, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}}
    control_plane.http.create(path, account)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    issued = control_plane.http.create(f"{path}/reader/token", request)
    verdict = await client.reviews.token(issued["status"]["token"])
    assert verdict.is_authenticated
    assert verdict.owner.username == f"system:serviceaccount:{namespace}:reader"
    metrics = {"path": "/metrics", "verb": "get"}
    assert not (await client.reviews.access(AccessQuestion(verdict.owner, None, metrics))).is_allowed
    master = TokenOwner("root", groups=("system:masters",))
    assert (await client.reviews.access(AccessQuestion(master, None, metrics))).is_allowed
    assert not (await client.reviews.token("nonsense")).is_authenticated
