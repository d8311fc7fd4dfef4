"""What may a gateway's account change? The wake annotation; and nobody else is limited."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from firebolt_local.control_plane import ControlPlane
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.errors import ForbiddenError, RejectedError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Manifest, Ref
from tests.api.wake.place import INSTANCE, WAKE, Place, a_door
from tests.api.wake.running import eventually
from tests.support.kubectl import kubectl

POLICY_FILE = Path(__file__).parents[3] / "config" / "admission" / "gateway-wake.yaml"
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
EVERY_VERB = ("get", "list", "patch", "update", "create", "delete", "deletecollection")
A_STATUS: Manifest = {"status": {"phase": "stable", "currentGeneration": 0, "activeGeneration": 0}}
A_STAMP: Manifest = {"metadata": {"annotations": {WAKE: "2026-01-01T00:00:00Z"}}}


@pytest.fixture(scope="session")
def policy(crds: None, control_plane: ControlPlane) -> None:  # noqa: ARG001 - for its effect
    kubectl(control_plane.kubeconfig, ["apply", "-f", str(POLICY_FILE)])


@pytest.fixture
async def guarded(policy: None, place: Place) -> Place:  # noqa: ARG001 - for its effect
    """An instance and an engine with an annotation of a user's; the policy is in force."""
    await place.make_instance()
    await place.make_engine()
    await place.client.merge_patch(place.engine_ref(), {"metadata": {"annotations": {"note": "theirs"}}})
    return place


async def refused(act: Callable[[], Awaitable[Any]]) -> str:
    """Why; the server takes a moment to notice a new policy or a new instance."""
    for _ in range(300):
        try:
            await act()
        except RejectedError as err:
            return str(err)
        await asyncio.sleep(0.1)
    raise AssertionError("never refused")


async def wait_until_limited(place: Place, client: KubeClient) -> None:
    numbers = count()

    async def act() -> None:
        # Another value each time: a patch that changes nothing is never refused.
        await client.merge_patch(place.engine_ref(), {"metadata": {"labels": {"probe": str(next(numbers))}}})

    await refused(act)
    await place.client.merge_patch(place.engine_ref(), {"metadata": {"labels": {"probe": None}}})


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
    await place.make_instance(template={"spec": {"serviceAccountName": "mine"}})
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


@pytest.mark.parametrize("name", ["firebolt-gateway-wake", "firebolt-gateway-wake-status"])
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


@contextmanager
def ignorance(place: Place, folder: Path) -> Generator[None]:
    """What a server that has just started makes of the policies: they rest on a kind that it does not know."""
    text = POLICY_FILE.read_text().replace("kind: FireboltInstance", "kind: FireboltMystery")
    copies: list[Manifest] = list(yaml.safe_load_all(text.replace("firebolt-gateway-wake", place.namespace)))
    for each in copies:
        # Only here: a server goes on asking a policy for a moment after it is deleted.
        if "matchConstraints" in each["spec"]:
            selector = {"matchLabels": {"kubernetes.io/metadata.name": place.namespace}}
            each["spec"]["matchConstraints"]["namespaceSelector"] = selector
    path = folder / "copies.yaml"
    path.write_text(yaml.safe_dump_all(copies))
    kubectl(place.plane.kubeconfig, ["apply", "-f", str(path)])
    try:
        yield
    finally:
        kubectl(place.plane.kubeconfig, ["delete", "-f", str(path)])


async def test_given_a_server_that_cannot_judge_yet_when_changed_then_a_spec_waits_and_a_status_does_not(
    place: Place, tmp_path: Path
) -> None:
    await place.make_instance()
    await place.make_engine()
    numbers = count(1)

    async def scale() -> None:
        await place.client.merge_patch(place.engine_ref(), {"spec": {"replicas": next(numbers)}})

    with ignorance(place, tmp_path):
        assert "paramKind" in await refused(scale)
        await place.client.merge_patch(place.engine_ref(), A_STATUS, subresource="status")


def test_the_file_speaks_of_our_annotation_and_our_kinds() -> None:
    policy, binding, status_policy, status_binding = yaml.safe_load_all(POLICY_FILE.read_text())
    for one, its_binding in ((policy, binding), (status_policy, status_binding)):
        assert one["metadata"]["name"] == its_binding["spec"]["policyName"]
        assert one["spec"]["matchConstraints"]["resourceRules"][0]["apiGroups"] == [FIREBOLT_ENGINES.group]
    assert f"'{WAKE}'" in str(policy["spec"]["validations"])
    assert policy["spec"]["matchConditions"] == status_policy["spec"]["matchConditions"]
