"""What a template no longer says is taken back; what others add is left alone."""

from typing import Any

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import CONFIG_MAPS, DEPLOYMENTS, ROLE_BINDINGS, SERVICES, STATEFULSETS
from firebolt_operator.refs import Manifest, Resource
from tests.api.instance.person import Person
from tests.api.instance.running import Operator


def gateway_says(instance: FireboltInstance, reason: str) -> bool:
    found = find_condition(instance.status.conditions, "GatewayReady")
    return found is not None and found.reason == reason


async def test_what_a_template_no_longer_says_is_taken_back(operator: Operator, person: Person) -> None:
    pod: Manifest = {
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "containers": [{"name": "shipper", "image": "s:1", "env": [{"name": "A", "value": "1"}]}],
        "volumes": [{"name": "cache", "emptyDir": {}}],
    }
    template = {"metadata": {"labels": {"team": "data"}}, "spec": pod}
    await person.make_instance(metadata={"template": template}, gateway={"template": template})
    await operator.until_ready()
    rendered = {name: await person.read(DEPLOYMENTS, name) for name in ("inst-metadata", "inst-gateway")}
    assert all("nodeSelector" in each["spec"]["template"]["spec"] for each in rendered.values())
    await person.patch_instance({"spec": {"metadata": {"template": None}, "gateway": {"template": None}}})
    for name in rendered:
        await person.until(DEPLOYMENTS, name, _is_plain)
    await operator.until_ready()


def _is_plain(deployment: Manifest | None) -> bool:
    assert deployment is not None
    template: dict[str, Any] = deployment["spec"]["template"]
    pod = template["spec"]
    leftovers = {"nodeSelector", "tolerations"} & pod.keys()
    names = {each["name"] for each in (*pod["containers"], *pod["volumes"])}
    return not leftovers and not names & {"shipper", "cache"} and "team" not in template["metadata"]["labels"]


ADDED: Manifest = {"labels": {"theirs": "yes"}, "annotations": {"theirs.example/note": "kept"}}
SIDECAR: Manifest = {"spec": {"template": {"spec": {"containers": [{"name": "theirs", "image": "t:1"}]}}}}
ADDITIONS: tuple[tuple[Resource, str, Manifest], ...] = (
    (DEPLOYMENTS, "inst-gateway", SIDECAR),
    (DEPLOYMENTS, "inst-metadata", SIDECAR),
    (STATEFULSETS, "inst-metadata-pg", SIDECAR),
    (SERVICES, "inst-gateway", {}),
    (CONFIG_MAPS, "inst-gateway-config", {"data": {"theirs": "yes"}}),
)


async def test_what_others_add_stays_and_costs_nothing(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await operator.until_ready()
    for resource, name, more in ADDITIONS:
        metadata = {"name": name, "namespace": person.namespace, **ADDED}
        await person.client.apply(
            {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **more}
        )
    # A change of our own to the same objects must not cost them theirs.
    await person.patch_instance({"spec": {"gateway": {"replicas": 3}, "metadata": {"configFormat": "YAML"}}})
    await person.until(DEPLOYMENTS, "inst-gateway", lambda found: found is not None and found["spec"]["replicas"] == 3)
    await person.until(DEPLOYMENTS, "inst-metadata", _has_rolled)
    await operator.until_ready()
    await operator.settled()
    operator.requests.seen.clear()
    assert await operator.next_pass() == "at rest"
    assert operator.requests.seen == {}
    for resource, name, more in ADDITIONS:
        stored = await person.read(resource, name)
        assert stored["metadata"]["labels"]["theirs"] == "yes"
        assert stored["metadata"]["annotations"]["theirs.example/note"] == "kept"
        if more is SIDECAR:
            containers = stored["spec"]["template"]["spec"]["containers"]
            assert "theirs" in {each["name"] for each in containers}
    assert (await person.read(CONFIG_MAPS, "inst-gateway-config"))["data"]["theirs"] == "yes"


def _has_rolled(found: Manifest | None) -> bool:
    """Every pod is of the latest template, and ready."""
    assert found is not None
    status = found.get("status", {})
    is_seen = status.get("observedGeneration") == found["metadata"]["generation"]
    counts = {status.get(kind) for kind in ("updatedReplicas", "readyReplicas", "replicas")}
    return bool(is_seen and counts == {1})


async def test_a_binding_to_another_role_is_made_anew(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await operator.until_ready()
    good = await person.read(ROLE_BINDINGS, "inst-gateway")
    bad = {
        "apiVersion": good["apiVersion"],
        "kind": good["kind"],
        "metadata": {key: good["metadata"][key] for key in ("name", "namespace", "labels", "ownerReferences")},
        "roleRef": {**good["roleRef"], "kind": "ClusterRole", "name": "view"},
        "subjects": good["subjects"],
    }
    await person.patch_instance({"spec": {"gateway": {"template": {"spec": {"serviceAccountName": "mine"}}}}})
    await operator.settled()
    await person.delete(ROLE_BINDINGS, "inst-gateway")
    await person.client.create(bad)
    await person.patch_instance({"spec": {"gateway": {"template": None}}})
    restored = await person.until(
        ROLE_BINDINGS, "inst-gateway", lambda found: found is not None and found["roleRef"] == good["roleRef"]
    )
    assert restored is not None
    assert restored["subjects"] == good["subjects"]


async def test_a_binding_of_somebody_else_is_not_deleted(operator: Operator, person: Person) -> None:
    theirs = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {
            "name": "inst-gateway",
            "namespace": person.namespace,
            "labels": {"firebolt.io/instance": "inst"},
        },
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    }
    created = await person.client.create(theirs)
    await person.make_instance()
    told = await operator.until(lambda found: gateway_says(found, "EnsureFailed"))
    message = next(each.message for each in told.status.conditions if each.type == "GatewayReady")
    assert message.startswith("ensuring gateway RBAC: ")
    assert (await person.read(ROLE_BINDINGS, "inst-gateway"))["metadata"]["uid"] == created["metadata"]["uid"]
