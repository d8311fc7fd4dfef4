"""Which accounts are limited, and who decides that? The operator's lists; and nobody can set a gateway free."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
import yaml

from firebolt_local.cluster.kube_http import KubeRequestError
from firebolt_operator.api import names
from firebolt_operator.api.resources import CONFIG_MAPS
from firebolt_operator.errors import ForbiddenError
from firebolt_operator.refs import Manifest, Ref
from tests.api.wake.limits import A_STAMP, A_STATUS, EVERY_VERB, refused, wait_until_limited
from tests.api.wake.place import INSTANCE, RBAC, Place, a_door
from tests.api.wake.running import eventually
from tests.support.kubectl import kubectl

pytestmark = pytest.mark.usefixtures("policy")

SYSTEM = "firebolt-system"
OPERATOR = f"system:serviceaccount:{SYSTEM}:firebolt-operator"
LABEL = {names.LABEL_POLICY_PARAMETER: names.POLICY_PARAMETER_ACCOUNTS}
OPERATORS_RULES = Path(__file__).parents[3] / "charts/firebolt-operator/files/manager-rules.yaml"
EMPTY: Manifest = {"data": {names.KEY_ACCOUNTS: ""}}


async def wait_for_root_ca(place: Place) -> None:
    """Kubernetes puts it into every namespace, a moment after the namespace is made."""

    async def is_there() -> bool:
        return await place.client.get(Ref(CONFIG_MAPS, place.namespace, "kube-root-ca.crt")) is not None

    await eventually(is_there, "the cluster's CA in the namespace")


async def test_given_no_list_when_an_engines_own_gateway_changes_it_then_it_is_refused_all_the_same(
    place: Place,
) -> None:
    await place.make_engine()
    await wait_for_root_ca(place)
    account = await place.make_gateway_account()
    async with a_door(place.kubeconfig_of(account)) as gateway:
        await wait_until_limited(place, gateway)
        await gateway.merge_patch(place.engine_ref(), A_STAMP)


async def test_given_no_list_when_anybody_else_changes_an_engine_then_it_is_allowed(place: Place) -> None:
    await place.make_engine()
    await wait_for_root_ca(place)
    limited = await place.make_gateway_account()
    account = await place.make_account("x-gateway", *EVERY_VERB)
    async with a_door(place.kubeconfig_of(limited)) as gateway:
        await wait_until_limited(place, gateway)
    async with a_door(place.kubeconfig_of(account)) as user:
        await user.merge_patch(place.engine_ref(), {"spec": {"replicas": 2}})
        await user.merge_patch(place.engine_ref(), {"spec": {"replicas": 3}}, subresource="scale")
        await user.delete(place.engine_ref(), uid=(await place.engine())["metadata"]["uid"])


async def test_given_two_instances_when_the_gateway_of_one_changes_an_engine_of_the_other_then_it_is_refused(
    place: Place,
) -> None:
    await place.make_engine()
    await place.list_gateways()
    await place.list_gateways("other")
    account = await place.make_gateway_account("other")
    async with a_door(place.kubeconfig_of(account)) as gateway:
        await wait_until_limited(place, gateway)
        await gateway.merge_patch(place.engine_ref(), A_STAMP)


@pytest.fixture
async def operators_place(place: Place) -> AsyncIterator[Place]:
    """The namespace where the operator itself is installed."""
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}}
    with suppress(KubeRequestError):  # a test of the chart may have made it
        place.plane.http.create("/api/v1/namespaces", manifest)
    there = replace(place, namespace=SYSTEM)
    engine = await there.make_engine(place.namespace)
    yield there
    await place.client.delete(there.engine_ref(place.namespace), uid=engine["metadata"]["uid"])


async def test_given_a_list_that_names_the_operator_when_both_write_engines_then_only_the_gateway_is_limited(
    operators_place: Place, namespace: str
) -> None:
    place, engine = operators_place, operators_place.engine_ref(namespace)
    listed = await place.list_gateways(namespace, template={"spec": {"serviceAccountName": "firebolt-operator"}})
    numbers = count(1)

    def scaled() -> Manifest:
        return {"spec": {"replicas": next(numbers)}}

    async with (
        a_door(place.plane.kubeconfig_for(f"system:serviceaccount:{SYSTEM}:{namespace}-gateway")) as gateway,
        a_door(place.plane.kubeconfig_for(OPERATOR)) as operator,
    ):
        await refused(lambda: gateway.merge_patch(engine, scaled()))
        await operator.merge_patch(engine, scaled())
        await operator.merge_patch(engine, {"metadata": {"finalizers": ["example.com/x"]}})
        await operator.merge_patch(engine, {"metadata": {"finalizers": []}})
        await operator.merge_patch(engine, A_STATUS, subresource="status")
    await place.delete(listed)


@pytest.fixture
async def editor(place: Place) -> Path:
    """Whom Kubernetes lets edit a namespace: pods, Secrets and ConfigMaps, but none of our kinds."""
    account = await place.make_account("editor", "get")
    await place.grant({"kind": "ServiceAccount", "name": account, "namespace": place.namespace}, "edit", [])
    return place.kubeconfig_of("editor")


def a_config_map(place: Place, **metadata: Manifest) -> Manifest:
    found = {"name": "mine", "namespace": place.namespace, **metadata}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": found}


async def test_given_the_right_to_edit_the_namespace_when_a_list_is_touched_in_any_way_then_it_is_refused(
    place: Place, editor: Path
) -> None:
    listed = await place.list_gateways()
    before = await place.client.get(listed)
    assert before is not None
    async with a_door(editor) as client:
        for act in (
            lambda: client.merge_patch(listed, EMPTY),
            lambda: client.merge_patch(listed, {"metadata": {"labels": None}}),
            lambda: client.merge_patch(listed, {"metadata": {"finalizers": ["example.com/stay"]}}),
            lambda: client.replace({**before, **EMPTY}),
            lambda: client.delete(listed, uid=before["metadata"]["uid"]),
            lambda: client.create(a_config_map(place, labels=LABEL)),
            lambda: client.apply(a_config_map(place, labels=LABEL)),
        ):
            with pytest.raises(ForbiddenError, match="firebolt-gateway-accounts"):
                await act()
    with pytest.raises(AssertionError, match="firebolt-gateway-accounts"):
        kubectl(editor, ["delete", "--raw", f"/api/v1/namespaces/{place.namespace}/configmaps"])
    assert await place.client.get(listed) == before


async def test_given_the_right_to_edit_the_namespace_when_other_objects_are_written_then_that_is_allowed(
    place: Place, editor: Path
) -> None:
    mine = Ref(CONFIG_MAPS, place.namespace, "mine")
    async with a_door(editor) as client:
        found = await client.create(a_config_map(place, labels={names.LABEL_INSTANCE: INSTANCE}))
        await client.merge_patch(mine, EMPTY)
        with pytest.raises(ForbiddenError, match="firebolt-gateway-accounts"):
            await client.merge_patch(mine, {"metadata": {"labels": LABEL}})
        await client.delete(mine, uid=found["metadata"]["uid"])


@pytest.mark.parametrize(
    "user",
    [
        pytest.param("system:serviceaccount:kube-system:generic-garbage-collector", id="the-garbage-collector"),
        pytest.param("an-operator", id="an-operator-of-a-team"),
    ],
)
async def test_given_who_looks_after_instances_when_it_deletes_a_list_then_that_is_allowed(
    place: Place, user: str
) -> None:
    listed = await place.list_gateways()
    rules = yaml.load(OPERATORS_RULES.read_text(), yaml.CSafeLoader)
    await place.grant({"apiGroup": RBAC, "kind": "User", "name": "an-operator"}, "an-operator", rules)
    async with a_door(place.plane.kubeconfig_for(user, groups=("system:authenticated",))) as client:
        found = await client.get(listed)
        assert found is not None
        await client.merge_patch(listed, EMPTY)
        await client.delete(listed, uid=found["metadata"]["uid"])
    assert await place.client.get(listed) is None


async def test_given_a_list_when_its_namespace_is_deleted_then_the_list_goes_as_well(place: Place) -> None:
    name = f"{place.namespace}-more"
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    place.plane.http.create("/api/v1/namespaces", manifest)
    await replace(place, namespace=name).list_gateways()
    place.plane.http.delete(f"/api/v1/namespaces/{name}")

    async def is_gone() -> bool:
        return place.plane.http.text("GET", f"/api/v1/namespaces/{name}")[0] == 404

    await eventually(is_gone, "the namespace to be gone")
