"""Is anything left of an engine or an instance that was deleted?"""

import asyncio
import secrets

import pytest

from firebolt_operator.api.resources import FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.refs import Ref
from tests.e2e.environment import INSTANCE, Environment
from tests.e2e.leaks import Inventory, assert_nothing_left, inventory
from tests.e2e.scenario import Scenario
from tests.support.workloads import eventually

pytestmark = pytest.mark.quick


async def test_given_an_engine_that_has_rolled_when_deleted_then_nothing_of_any_kind_is_left(
    scenario: Scenario,
) -> None:
    before = await asyncio.to_thread(inventory, scenario.environment)
    assert before.kinds > 40
    await scenario.make_resting_engine("gone", replicas=1)
    edited = await scenario.edit("gone", replicas=2)
    # In the middle of a rollout there are two generations to remove.
    await scenario.until(lambda: scenario.engine("gone").status.phase == "draining", "two generations")
    assert edited == 2
    await scenario.delete(scenario.ref(FIREBOLT_ENGINES, "gone"))
    await asyncio.to_thread(assert_nothing_left, scenario.environment, before)


async def test_given_an_instance_with_an_engine_when_both_are_deleted_then_nothing_is_left(scenario: Scenario) -> None:
    namespace, environment = f"gone-{secrets.token_hex(3)}", scenario.environment
    await asyncio.to_thread(environment.make_namespace, namespace)
    before = await asyncio.to_thread(_settled_inventory, environment, namespace)
    await asyncio.to_thread(environment.make_instance, namespace)
    engine = {
        "apiVersion": FIREBOLT_ENGINES.api_version,
        "kind": FIREBOLT_ENGINES.kind,
        "metadata": {"name": "short", "namespace": namespace},
        "spec": {"instanceRef": INSTANCE, "replicas": 1},
    }
    await scenario.client.create(engine)
    words = [f"--namespace={namespace}", "wait", "fireng/short", "--for=condition=Ready", "--timeout=50s"]
    await asyncio.to_thread(environment.kubectl, *words)
    for resource, name in ((FIREBOLT_ENGINES, "short"), (FIREBOLT_INSTANCES, INSTANCE)):
        await scenario.delete(Ref(resource, namespace, name))
    await asyncio.to_thread(assert_nothing_left, environment, before)
    await asyncio.to_thread(environment.kubectl, "delete", "namespace", namespace, "--timeout=50s")


def _settled_inventory(environment: Environment, namespace: str) -> Inventory:
    eventually(lambda: "kube-root-ca.crt" in environment.kubectl("get", "configmaps", "-o", "name", "-n", namespace))
    return inventory(environment)
