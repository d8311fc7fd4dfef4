"""Is anything left of an engine or an instance that was deleted?"""

import asyncio
import secrets

import pytest

from firebolt_operator.api.resources import FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.refs import Ref
from tests.api.local.workloads import eventually
from tests.e2e.leaks import Inventory, assert_nothing_left, inventory
from tests.e2e.place import INSTANCE, Place
from tests.e2e.scene import Scene

pytestmark = pytest.mark.quick


async def test_given_an_engine_that_has_rolled_when_deleted_then_nothing_of_any_kind_is_left(scene: Scene) -> None:
    before = await asyncio.to_thread(inventory, scene.place)
    assert before.kinds > 40
    await scene.make_resting_engine("gone", replicas=1)
    edited = await scene.edit("gone", replicas=2)
    # In the middle of a rollout there are two generations to remove.
    await scene.until(lambda: scene.engine("gone").status.phase == "draining", "two generations")
    assert edited == 2
    await scene.delete(scene.ref(FIREBOLT_ENGINES, "gone"))
    await asyncio.to_thread(assert_nothing_left, scene.place, before)


async def test_given_an_instance_with_an_engine_when_both_are_deleted_then_nothing_is_left(scene: Scene) -> None:
    namespace, place = f"gone-{secrets.token_hex(3)}", scene.place
    await asyncio.to_thread(place.make_namespace, namespace)
    before = await asyncio.to_thread(_settled_inventory, place, namespace)
    await asyncio.to_thread(place.make_instance, namespace)
    engine = {
        "apiVersion": FIREBOLT_ENGINES.api_version,
        "kind": FIREBOLT_ENGINES.kind,
        "metadata": {"name": "short", "namespace": namespace},
        "spec": {"instanceRef": INSTANCE, "replicas": 1},
    }
    await scene.client.create(engine)
    words = [f"--namespace={namespace}", "wait", "fireng/short", "--for=condition=Ready", "--timeout=50s"]
    await asyncio.to_thread(place.kubectl, *words)
    for resource, name in ((FIREBOLT_ENGINES, "short"), (FIREBOLT_INSTANCES, INSTANCE)):
        await scene.delete(Ref(resource, namespace, name))
    await asyncio.to_thread(assert_nothing_left, place, before)
    await asyncio.to_thread(place.kubectl, "delete", "namespace", namespace, "--timeout=50s")


def _settled_inventory(place: Place, namespace: str) -> Inventory:
    eventually(lambda: "kube-root-ca.crt" in place.kubectl("get", "configmaps", "-o", "name", "-n", namespace))
    return inventory(place)
