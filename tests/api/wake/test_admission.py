"""What may a gateway's account change? The wake annotation; and nobody else is limited."""

import pytest
import yaml

from firebolt_operator.api import names
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.errors import ForbiddenError
from firebolt_operator.refs import Manifest, Ref
from tests.api.wake.limits import A_STAMP, A_STATUS, EVERY_VERB, POLICY_FILE, wait_until_limited
from tests.api.wake.place import INSTANCE, WAKE, Place, a_door
from tests.api.wake.running import eventually

OTHER_FIELDS: dict[str, Manifest] = {
    "spec": {"spec": {"replicas": 5}},
    "spec-auto-stop": {"spec": {"autoStop": {"enabled": False}}},
    "label": {"metadata": {"labels": {"team": "data"}}},
    "finalizer": {"metadata": {"finalizers": ["example.com/stay"]}},
    "owner": {
        "metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "some-uid"}]}
    },
    "other-annotation": {"metadata": {"annotations": {"firebolt.io/clear-failed": "true"}}},
    "changed-annotation": {"metadata": {"annotations": {"note": "mine now"}}},
    "removed-annotation": {"metadata": {"annotations": {"note": None}}},
    "all-annotations": {"metadata": {"annotations": None}},
    "annotation-and-spec": {"metadata": {"annotations": {WAKE: "2026-01-01T00:00:00Z"}}, "spec": {"replicas": 1}},
}


@pytest.fixture
async def guarded(policy: None, place: Place) -> Place:  # noqa: ARG001 - for its effect
    """A listed gateway and an engine with an annotation of a user's; the policy is in force."""
    await place.list_gateways()
    await place.make_engine()
    await place.client.merge_patch(place.engine_ref(), {"metadata": {"annotations": {"note": "theirs"}}})
    return place


def without_bookkeeping(engine: Manifest) -> Manifest:
    metadata = {
        key: value for key, value in engine["metadata"].items() if key not in {"managedFields", "resourceVersion"}
    }
    return engine | {"metadata": metadata}


async def test_given_a_gateways_token_when_it_stamps_then_that_is_allowed_and_nothing_else_changes(
    guarded: Place,
) -> None:
    account = await guarded.make_gateway_account()
    before = await guarded.engine()
    async with a_door(guarded.kubeconfig_of(account)) as gateway:
        await wait_until_limited(guarded, gateway)
        await gateway.merge_patch(guarded.engine_ref(), A_STAMP)
    after = await guarded.engine()
    assert after["metadata"]["annotations"].pop(WAKE) == "2026-01-01T00:00:00Z"
    assert without_bookkeeping(after) == without_bookkeeping(before)


@pytest.mark.parametrize("patch", [pytest.param(patch, id=name) for name, patch in OTHER_FIELDS.items()])
async def test_given_a_gateways_token_when_it_changes_anything_else_then_it_is_refused(
    guarded: Place, patch: Manifest
) -> None:
    account = await guarded.make_gateway_account()
    async with a_door(guarded.kubeconfig_of(account)) as gateway:
        await wait_until_limited(guarded, gateway)
        before = await guarded.engine()
        with pytest.raises(ForbiddenError, match="firebolt-gateway-wake"):
            await gateway.merge_patch(guarded.engine_ref(), patch)
    assert await guarded.engine() == before


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "0001-01-01T00:00:00+23:59",
        "2026-01-01T00:00:00+00:00",
        "2026-01-01T00:00:00.5Z",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00z",
        "2026-13-01T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:60Z",
        "12026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z\n",
        "2026-01-01T00:00:00Z" * 1000,
    ],
)
async def test_given_a_gateways_token_when_it_stamps_anything_but_utc_seconds_then_it_is_refused(
    guarded: Place, value: str
) -> None:
    account = await guarded.make_gateway_account()
    async with a_door(guarded.kubeconfig_of(account)) as gateway:
        await wait_until_limited(guarded, gateway)
        with pytest.raises(ForbiddenError, match="RFC 3339"):
            await gateway.merge_patch(guarded.engine_ref(), {"metadata": {"annotations": {WAKE: value}}})
    assert await guarded.stamp_of() == ""


async def test_given_a_users_odd_stamp_when_a_gateway_stamps_then_its_own_replaces_it(guarded: Place) -> None:
    account = await guarded.make_gateway_account()
    await guarded.client.merge_patch(guarded.engine_ref(), {"metadata": {"annotations": {WAKE: "soon"}}})
    async with a_door(guarded.kubeconfig_of(account)) as gateway:
        await wait_until_limited(guarded, gateway)
        await gateway.merge_patch(guarded.engine_ref(), A_STAMP)
    assert await guarded.stamp_of() == "2026-01-01T00:00:00Z"


async def test_given_a_gateways_token_when_it_uses_other_verbs_then_its_role_refuses(guarded: Place) -> None:
    account = await guarded.make_gateway_account()
    engine = await guarded.engine()
    another = {**engine, "metadata": {"name": "another", "namespace": guarded.namespace}}
    async with a_door(guarded.kubeconfig_of(account)) as gateway:
        for act in (
            lambda: gateway.delete(guarded.engine_ref(), uid=engine["metadata"]["uid"]),
            lambda: gateway.create(another),
            lambda: gateway.apply(another),
            lambda: gateway.replace(engine),
            lambda: gateway.merge_patch(guarded.engine_ref(), {"status": {"phase": "x"}}, subresource="status"),
            lambda: gateway.merge_patch(guarded.engine_ref(), {"spec": {"replicas": 3}}, subresource="scale"),
            lambda: gateway.merge_patch(Ref(FIREBOLT_ENGINES, "default", "eng"), A_STAMP),
        ):
            with pytest.raises(ForbiddenError, match="forbidden"):
                await act()


async def test_given_more_rights_when_a_template_names_the_account_then_the_policy_still_limits_it(
    policy: None,  # noqa: ARG001 - for its effect
    place: Place,
) -> None:
    await place.list_gateways(template={"spec": {"serviceAccountName": "mine"}})
    await place.make_engine()
    account = await place.make_account("mine", *EVERY_VERB)
    engine = await place.engine()
    another = {**engine, "metadata": {"name": "another", "namespace": place.namespace}}
    async with a_door(place.kubeconfig_of(account)) as gateway:
        await wait_until_limited(place, gateway)
        for act in (
            lambda: gateway.delete(place.engine_ref(), uid=engine["metadata"]["uid"]),
            lambda: gateway.create(another),
            lambda: gateway.apply(another),
            lambda: gateway.merge_patch(place.engine_ref(), A_STATUS, subresource="status"),
            lambda: gateway.merge_patch(place.engine_ref(), {"spec": {"replicas": 3}}, subresource="scale"),
        ):
            with pytest.raises(ForbiddenError, match="firebolt-gateway-wake"):
                await act()
        await gateway.merge_patch(place.engine_ref(), A_STAMP)


@pytest.mark.parametrize("name", ["my-gateway", f"x{INSTANCE}-gateway", "gateway", "default"])
async def test_given_a_users_own_account_when_its_name_only_looks_like_a_gateways_then_it_is_not_limited(
    guarded: Place, name: str
) -> None:
    limited = await guarded.make_gateway_account()
    account = await guarded.make_account(name, *EVERY_VERB)
    async with a_door(guarded.kubeconfig_of(limited)) as gateway:
        await wait_until_limited(guarded, gateway)
    async with a_door(guarded.kubeconfig_of(account)) as user:
        for each in OTHER_FIELDS.values():
            if "ownerReferences" not in each.get("metadata", {}) and "finalizers" not in each.get("metadata", {}):
                await user.merge_patch(guarded.engine_ref(), each)
        engine = await guarded.engine()
        await user.delete(guarded.engine_ref(), uid=engine["metadata"]["uid"])


async def test_given_another_namespaces_gateway_when_it_has_rights_here_then_it_is_a_user_here(guarded: Place) -> None:
    """An account of the same name elsewhere is another account."""
    assert (await guarded.client.merge_patch(guarded.engine_ref(), {"spec": {"replicas": 2}}))["spec"]["replicas"] == 2
    path = guarded.plane.kubeconfig_for(f"system:serviceaccount:elsewhere:{INSTANCE}-gateway")
    async with a_door(path) as user:
        await user.merge_patch(guarded.engine_ref(), {"spec": {"replicas": 3}})


@pytest.mark.parametrize("name", ["firebolt-gateway-wake", "firebolt-gateway-accounts"])
async def test_given_the_policy_when_the_server_checks_its_types_then_it_has_no_complaint(
    policy: None,  # noqa: ARG001 - for its effect
    place: Place,
    name: str,
) -> None:
    path = f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{name}"

    async def is_checked() -> bool:
        return "typeChecking" in place.plane.http.get(path).get("status", {})

    await eventually(is_checked, "the policy's types are checked")
    assert place.plane.http.get(path)["status"]["typeChecking"].get("expressionWarnings", []) == []


def test_the_file_speaks_of_our_annotation_our_kinds_and_our_label() -> None:
    policy, *bindings, guard, guard_binding = yaml.load_all(POLICY_FILE.read_text(), yaml.CSafeLoader)
    assert {each["spec"]["policyName"] for each in bindings} == {policy["metadata"]["name"]}
    assert guard_binding["spec"]["policyName"] == guard["metadata"]["name"]
    assert policy["spec"]["matchConstraints"]["resourceRules"][0]["apiGroups"] == [FIREBOLT_ENGINES.group]
    assert f"'{WAKE}'" in str(policy["spec"]["validations"])
    assert f"params.?data.?{names.KEY_ACCOUNTS}." in str(policy["spec"]["matchConditions"])
    label = {"matchLabels": {names.LABEL_POLICY_PARAMETER: names.POLICY_PARAMETER_ACCOUNTS}}
    assert bindings[0]["spec"]["paramRef"]["selector"] == guard["spec"]["matchConstraints"]["objectSelector"] == label
