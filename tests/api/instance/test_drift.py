"""What people change behind the operator's back is put back; what others add is left alone."""

from typing import Any

import pytest

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    POD_DISRUPTION_BUDGETS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.refs import Manifest, Resource
from tests.api.instance.person import Person
from tests.api.instance.running import Operator


def gateway_says(instance: FireboltInstance, reason: str) -> bool:
    found = find_condition(instance.status.conditions, "GatewayReady")
    return found is not None and found.reason == reason


def without_bookkeeping(found: Manifest) -> Manifest:
    metadata = {key: found["metadata"].get(key) for key in ("name", "labels", "ownerReferences")}
    rest = {key: value for key, value in found.items() if key not in {"metadata", "status"}}
    return {"metadata": metadata, **rest}


@pytest.mark.parametrize(
    ("resource", "name", "patch"),
    [
        pytest.param(CONFIG_MAPS, "inst-gateway-config", {"data": {"envoy.yaml": "broken"}}, id="envoy-config"),
        pytest.param(CONFIG_MAPS, "inst-metadata-config", {"data": {"config.xml": None}}, id="metadata-config"),
        pytest.param(DEPLOYMENTS, "inst-gateway", {"spec": {"replicas": 5}}, id="scale"),
        pytest.param(SERVICES, "inst-metadata", {"spec": {"selector": {"firebolt.io/component": "x"}}}, id="selector"),
        pytest.param(POD_DISRUPTION_BUDGETS, "inst-gateway", {"spec": {"maxUnavailable": 2}}, id="budget"),
        pytest.param(ROLES, "inst-gateway", {"rules": []}, id="grants"),
        pytest.param(ROLE_BINDINGS, "inst-gateway", {"subjects": []}, id="subjects"),
        pytest.param(SERVICE_ACCOUNTS, "inst-gateway", {"metadata": {"ownerReferences": []}}, id="owner"),
    ],
)
async def test_an_edited_object_is_put_back(
    operator: Operator, person: Person, resource: Resource, name: str, patch: Manifest
) -> None:
    await person.make_instance()
    await operator.until_ready()
    before = without_bookkeeping(await person.read(resource, name))
    await person.patch(resource, name, patch)

    def is_back(found: Manifest | None) -> bool:
        return found is not None and without_bookkeeping(found) == before

    await person.until(resource, name, is_back)


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        (STATEFULSETS, "inst-metadata-pg"),
        (SERVICES, "inst-metadata-pg"),
        (DEPLOYMENTS, "inst-metadata"),
        (SERVICE_ACCOUNTS, "inst-gateway"),
        (ROLES, "inst-gateway"),
        (ROLE_BINDINGS, "inst-gateway"),
        (POD_DISRUPTION_BUDGETS, "inst-gateway"),
    ],
)
async def test_a_deleted_object_is_made_again(
    operator: Operator, person: Person, resource: Resource, name: str
) -> None:
    await person.make_instance()
    await operator.until_ready()
    deleted = await person.delete(resource, name)
    uid = deleted["metadata"]["uid"]
    await person.until(resource, name, lambda found: found is not None and found["metadata"]["uid"] != uid)
    await operator.until_ready()


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


async def test_what_others_add_stays_and_costs_nothing(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await operator.until_ready()
    addition = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "inst-gateway", "namespace": person.namespace, "labels": {"theirs": "yes"}},
        "spec": {"template": {"spec": {"containers": [{"name": "theirs", "image": "t:1"}]}}},
    }
    await person.client.apply(addition)
    await operator.until_ready()
    await operator.settled()
    operator.requests.seen.clear()
    assert await operator.next_pass() == "at rest"
    assert operator.requests.seen == {}
    stored = await person.read(DEPLOYMENTS, "inst-gateway")
    assert stored["metadata"]["labels"]["theirs"] == "yes"
    names = [each["name"] for each in stored["spec"]["template"]["spec"]["containers"]]
    assert sorted(names) == ["envoy", "theirs", "wake-agent"]


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
