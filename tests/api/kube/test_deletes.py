"""What does deleting mean: of ours, of another's, of what is gone, of what lingers?"""

import asyncio
import json
from contextlib import aclosing

import pytest

from firebolt_operator.errors import ConflictError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref
from tests.api.kube.objects import (
    DEPLOYMENTS,
    PODS,
    Listener,
    a_config_map,
    a_deployment,
    a_pod,
    config_map_ref,
)


@pytest.fixture
def listener(client: KubeClient) -> Listener:
    listener = Listener()
    client.add_observer(listener)
    return listener


def uid_of(manifest: Manifest) -> str:
    return str(manifest["metadata"]["uid"])


async def test_what_we_decided_on_is_deleted(client: KubeClient, namespace: str, listener: Listener) -> None:
    ref = config_map_ref(namespace)
    stored = await client.create(a_config_map(namespace))
    version = stored["metadata"]["resourceVersion"]
    await client.delete(ref, uid=uid_of(stored), resource_version=version)
    assert await client.get(ref) is None
    assert listener.heard[-1] == ("deleted", ref, uid_of(stored))


async def test_what_is_gone_already_counts_as_deleted(client: KubeClient, namespace: str, listener: Listener) -> None:
    await client.delete(config_map_ref(namespace), uid="some-uid")
    assert listener.heard == [("deleted", config_map_ref(namespace), "some-uid")]


async def test_another_object_of_that_name_survives(client: KubeClient, namespace: str, listener: Listener) -> None:
    ref = config_map_ref(namespace)
    first = await client.create(a_config_map(namespace))
    await client.delete(ref, uid=uid_of(first))
    second = await client.create(a_config_map(namespace))
    await client.delete(ref, uid=uid_of(first), resource_version=first["metadata"]["resourceVersion"])
    assert uid_of(await client.get(ref) or {}) == uid_of(second)
    assert listener.heard[-1] == ("deleted", ref, uid_of(first))


async def test_an_object_that_changed_since_is_a_conflict(client: KubeClient, namespace: str) -> None:
    ref = config_map_ref(namespace)
    stored = await client.create(a_config_map(namespace))
    await client.merge_patch(ref, {"data": {"a": "1"}})
    with pytest.raises(ConflictError, match=f"deleting ConfigMap {namespace}/settings"):
        await client.delete(ref, uid=uid_of(stored), resource_version=stored["metadata"]["resourceVersion"])
    assert await client.get(ref) is not None


async def test_given_a_finalizer_then_observers_hear_that_it_lingers(
    client: KubeClient, namespace: str, listener: Listener
) -> None:
    ref = config_map_ref(namespace)
    manifest = a_config_map(namespace)
    manifest["metadata"]["finalizers"] = ["contract.example/hold"]
    stored = await client.create(manifest)
    await client.delete(ref, uid=uid_of(stored))
    lingering = await client.get(ref) or {}
    assert "deletionTimestamp" in lingering["metadata"]
    assert listener.heard[-1] == ("written", ref, lingering["metadata"]["resourceVersion"])
    await client.merge_patch(ref, {"metadata": {"finalizers": None}})
    assert await client.get(ref) is None


async def test_given_its_last_finalizer_is_taken_off_then_observers_hear_that_it_is_gone(
    client: KubeClient, namespace: str
) -> None:
    ref, listener = config_map_ref(namespace), Listener()
    held = a_config_map(namespace)
    held["metadata"]["finalizers"] = ["example.com/hold"]
    stored = await client.create(held)
    uid = stored["metadata"]["uid"]
    await client.delete(ref, uid=uid)
    client.add_observer(listener)
    await client.merge_patch(ref, {"metadata": {"finalizers": []}})
    assert listener.heard == [("deleted", ref, uid)]
    assert await client.get(ref) is None


async def test_given_a_grace_period_then_observers_hear_that_it_lingers(
    client: KubeClient, namespace: str, listener: Listener
) -> None:
    stored = await client.create(a_pod(namespace))
    await client.delete(Ref(PODS, namespace, "web-0"), uid=uid_of(stored))
    assert [what for what, *_ in listener.heard] == ["written", "written"]


async def test_a_pod_that_never_ran_is_gone_at_once(client: KubeClient, namespace: str, listener: Listener) -> None:
    manifest = a_pod(namespace)
    # Nobody schedules it, so nobody would have to end it.
    manifest["spec"] |= {"nodeName": "", "schedulerName": "nobody"}
    stored = await client.create(manifest)
    ref = Ref(PODS, namespace, "web-0")
    await client.delete(ref, uid=uid_of(stored))
    assert await client.get(ref) is None
    assert listener.heard[-1] == ("deleted", ref, uid_of(stored))


async def test_foreground_waits_for_the_children(client: KubeClient, namespace: str, listener: Listener) -> None:
    stored = await client.apply(a_deployment(namespace, replicas=0))
    ref = Ref(DEPLOYMENTS, namespace, "web")
    await client.delete(ref, uid=uid_of(stored), propagation="Foreground")
    assert listener.heard[-1][:2] == ("written", ref)


async def finalizers_until_gone(client: KubeClient, scope: Scope, *, since: str) -> list[list[str]]:
    """Which finalizers the objects of a scope had, event by event, until one of them was gone."""
    seen: list[list[str]] = []
    async with asyncio.timeout(30), aclosing(client.watch(scope, resource_version=since)) as events:
        async for event in events:
            seen.append(json.loads(event.body)["metadata"].get("finalizers", []))
            if event.type == "DELETED":
                return seen
    raise AssertionError(seen)


async def test_orphaned_children_are_left_to_the_collector(client: KubeClient, namespace: str) -> None:
    # What becomes of the children depends on whether the garbage collector has heard of them, so they are not asked.
    stored = await client.apply(a_deployment(namespace, replicas=0))
    await client.delete(Ref(DEPLOYMENTS, namespace, "web"), uid=uid_of(stored), propagation="Orphan")
    deployments = Scope(resource=DEPLOYMENTS, namespace=namespace)
    seen = await finalizers_until_gone(client, deployments, since=stored["metadata"]["resourceVersion"])
    assert ["orphan"] in seen
