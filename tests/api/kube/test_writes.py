"""Does a real API server take our writes the way the door promises?"""

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Manifest, Ref
from tests.api.kube.conftest import a_door
from tests.api.kube.objects import (
    DEPLOYMENTS,
    NAMESPACES,
    Listener,
    a_config_map,
    a_deployment,
    config_map_ref,
)


async def test_apply_creates_then_changes_what_we_own_and_leaves_the_rest(client: KubeClient, namespace: str) -> None:
    await client.apply(a_config_map(namespace, ours="1", dropped="x"))
    await client.merge_patch(config_map_ref(namespace), {"data": {"theirs": "2"}})
    stored = await client.apply(a_config_map(namespace, ours="3"))
    assert stored["data"] == {"ours": "3", "theirs": "2"}
    managers = {(each["manager"], each["operation"]) for each in stored["metadata"]["managedFields"]}
    assert managers == {("firebolt-operator", "Apply"), ("firebolt-operator", "Update")}


async def test_apply_takes_fields_over(client: KubeClient, control_plane: ControlPlane, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    control_plane.http.create(path, a_config_map(namespace, level="theirs"))
    assert (await client.apply(a_config_map(namespace, level="ours")))["data"] == {"level": "ours"}


async def test_an_equal_apply_changes_no_version(client: KubeClient, namespace: str) -> None:
    first = await client.apply(a_config_map(namespace, a="1"))
    second = await client.apply(a_config_map(namespace, a="1"))
    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


async def test_a_stale_replace_is_a_conflict(client: KubeClient, namespace: str) -> None:
    stale = await client.create(a_config_map(namespace))
    await client.replace(stale | {"data": {"a": "1"}})
    with pytest.raises(ConflictError, match=f"replacing ConfigMap {namespace}/settings: Operation cannot be fulfilled"):
        await client.replace(stale | {"data": {"a": "2"}})


async def test_a_second_create_meets_what_exists(client: KubeClient, namespace: str) -> None:
    await client.create(a_config_map(namespace))
    with pytest.raises(AlreadyExistsError, match=f"creating ConfigMap {namespace}/settings: .*already exists"):
        await client.create(a_config_map(namespace))


async def test_what_breaks_the_schema_is_invalid_and_says_where(client: KubeClient, namespace: str) -> None:
    with pytest.raises(InvalidError, match=r"spec\.replicas") as caught:
        await client.apply(a_deployment(namespace, replicas=-1))
    assert (caught.value.status, caught.value.reason) == (422, "Invalid")


async def test_an_unknown_field_in_an_apply_is_refused(client: KubeClient, namespace: str) -> None:
    with pytest.raises(InvalidError, match="field not declared in schema"):
        await client.apply(a_config_map(namespace) | {"colour": "red"})


async def test_a_patch_of_nothing_is_not_found(client: KubeClient, namespace: str) -> None:
    with pytest.raises(NotFoundError, match=f"patching ConfigMap {namespace}/settings: .*not found"):
        await client.merge_patch(config_map_ref(namespace), {"data": {"a": "1"}})


async def test_a_kind_nobody_serves_is_not_found(client: KubeClient, namespace: str) -> None:
    manifest: Manifest = {
        "apiVersion": "nobody.example/v1",
        "kind": "Nothing",
        "metadata": {"name": "x", "namespace": namespace},
    }
    with pytest.raises(NotFoundError, match=r"no Nothing in nobody\.example/v1"):
        await client.apply(manifest)


async def test_without_rights_everything_is_forbidden(control_plane: ControlPlane, namespace: str) -> None:
    async with a_door(control_plane.kubeconfig_for("stranger", groups=())) as stranger:
        with pytest.raises(ForbiddenError, match='User "stranger" cannot patch'):
            await stranger.apply(a_config_map(namespace))
        with pytest.raises(ForbiddenError, match='User "stranger" cannot get'):
            await stranger.get(config_map_ref(namespace))


async def test_the_status_is_written_alone_and_conflicts_when_stale(client: KubeClient, namespace: str) -> None:
    stored = await client.apply(a_deployment(namespace, replicas=0))
    ref = Ref(DEPLOYMENTS, namespace, "web")
    changed = stored | {"spec": stored["spec"] | {"replicas": 5}, "status": {"observedGeneration": 9}}
    stored_status = await _latest_status_write(client, ref, changed)
    assert stored_status["spec"]["replicas"] == 0
    assert stored_status["status"]["observedGeneration"] == 9
    with pytest.raises(ConflictError, match="writing the status of Deployment"):
        await client.update_status(changed)


async def _latest_status_write(client: KubeClient, ref: Ref, wanted: Manifest) -> Manifest:
    """The deployment controller writes this status too: take its latest version until ours gets through."""
    for _ in range(20):
        latest = await client.get(ref)
        assert latest is not None
        version = latest["metadata"]["resourceVersion"]
        try:
            return await client.update_status(wanted | {"metadata": wanted["metadata"] | {"resourceVersion": version}})
        except ConflictError:
            continue
    raise AssertionError("the status never got through")


async def test_a_merge_patch_reaches_a_subresource(client: KubeClient, namespace: str) -> None:
    listener = Listener()
    client.add_observer(listener)
    await client.apply(a_deployment(namespace, replicas=0))
    ref = Ref(DEPLOYMENTS, namespace, "web")
    scale = await client.merge_patch(ref, {"spec": {"replicas": 2}}, subresource="scale")
    assert (scale["kind"], scale["spec"]["replicas"]) == ("Scale", 2)
    assert [what for what, *_ in listener.heard] == ["written", "unanswered"]


async def test_cluster_scoped_objects(client: KubeClient, namespace: str) -> None:
    patched = await client.merge_patch(Ref(NAMESPACES, "", namespace), {"metadata": {"labels": {"seen": "yes"}}})
    assert patched["metadata"]["labels"]["seen"] == "yes"


async def test_an_object_of_a_megabyte_goes_in_and_comes_back(client: KubeClient, namespace: str) -> None:
    manifest = a_config_map(namespace, blob="x" * 1_000_000)
    stored = await client.create(manifest)
    assert stored["data"] == manifest["data"]
    assert (await client.get(config_map_ref(namespace)) or {})["data"] == manifest["data"]


@pytest.mark.parametrize("size", [1_200_000, 3_500_000], ids=["for-a-config-map", "for-any-request"])
async def test_an_object_that_is_too_large_is_refused(client: KubeClient, namespace: str, size: int) -> None:
    with pytest.raises(InvalidError):
        await client.create(a_config_map(namespace, blob="x" * size))


async def test_observers_hear_the_stored_version(client: KubeClient, namespace: str) -> None:
    listener = Listener()
    client.add_observer(listener)
    stored = [await client.apply(a_config_map(namespace, a=str(number))) for number in range(2)]
    ref = config_map_ref(namespace)
    assert listener.heard == [("written", ref, each["metadata"]["resourceVersion"]) for each in stored]


async def test_generated_names_are_reported(client: KubeClient, namespace: str) -> None:
    listener = Listener()
    client.add_observer(listener)
    manifest = a_config_map(namespace)
    manifest["metadata"] = {"generateName": "settings-", "namespace": namespace}
    stored = await client.create(manifest)
    assert listener.heard[0][1] == config_map_ref(namespace, stored["metadata"]["name"])
