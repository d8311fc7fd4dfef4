"""Whatever fails of an instance, in whatever phase: the phase, the endpoints and the conditions say what works."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

import pytest

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import COMPONENT_GATEWAY, COMPONENT_METADATA, COMPONENT_POSTGRES, LABEL_COMPONENT
from firebolt_operator.api.resources import DEPLOYMENTS, PODS, STATEFULSETS
from firebolt_operator.refs import Manifest, Resource
from tests.api.instance.person import Person
from tests.api.instance.running import Operator

PATIENCE_SECONDS = 10.0
WORKLOADS: dict[str, tuple[Resource, str]] = {
    COMPONENT_POSTGRES: (STATEFULSETS, "inst-metadata-pg"),
    COMPONENT_METADATA: (DEPLOYMENTS, "inst-metadata"),
    COMPONENT_GATEWAY: (DEPLOYMENTS, "inst-gateway"),
}


@dataclass(frozen=True, slots=True)
class Health:
    """Which components work. A metadata service without its database does not."""

    postgres: bool
    metadata: bool
    gateway: bool

    def pods(self) -> dict[str, bool]:
        metadata = self.postgres and self.metadata
        return {COMPONENT_POSTGRES: self.postgres, COMPONENT_METADATA: metadata, COMPONENT_GATEWAY: self.gateway}

    def phase(self, before: str) -> str:
        if self.postgres and self.metadata and self.gateway:
            return "Ready"
        return "Provisioning" if before == "Provisioning" else "Degraded"


ALL = [Health(*each) for each in product([True, False], repeat=3)]


async def make(person: Person, health: Health) -> None:
    """The pods as they would be; simulated ones have no database to lose, so the metadata service's is told."""
    for component, is_ready in health.pods().items():
        note = None if is_ready else "false"
        for name in await person.names(PODS, f"{LABEL_COMPONENT}={component}"):
            await person.patch(PODS, name, {"metadata": {"annotations": {"sim.firebolt.io/ready": note}}})
        resource, workload = WORKLOADS[component]

        def is_told(found: Manifest | None, is_ready: bool = is_ready) -> bool:
            return found is not None and (found["status"].get("readyReplicas", 0) > 0) == is_ready

        await person.until(resource, workload, is_told)


def described(instance: FireboltInstance) -> tuple[object, ...]:
    status = instance.status
    found = {kind: find_condition(status.conditions, kind) for kind in ("MetadataReady", "GatewayReady", "Ready")}
    truths = tuple(each is not None and each.is_true for each in found.values())
    return status.phase, bool(status.metadata_endpoint), bool(status.gateway_endpoint), truths


def expected(health: Health, before: str) -> tuple[object, ...]:
    pods = health.pods()
    metadata, gateway = pods[COMPONENT_METADATA], pods[COMPONENT_GATEWAY]
    return health.phase(before), metadata, gateway, (metadata, gateway, metadata and gateway)


async def settled(operator: Operator, told: Manifest, wanted: tuple[object, ...]) -> tuple[object, ...]:
    """What the status says in the end; whoever waits for long enough may be sure that it says nothing else."""
    version = int(told["metadata"]["resourceVersion"])

    def is_so(found: FireboltInstance) -> bool:
        return int(found.metadata.resource_version) >= version and described(found) == wanted

    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await operator.until(is_so)
    await operator.next_pass()
    found = operator.instance()
    assert found is not None
    return described(found)


@pytest.mark.parametrize("phase", ["Provisioning", "Ready", "Degraded"])
async def test_every_combination_of_failures_is_told(operator: Operator, person: Person, phase: str) -> None:
    await person.make_instance()
    await operator.until_ready()
    wrong = dict[Health, tuple[object, ...]]()
    for health in ALL:
        await make(person, health)
        told = await person.patch_instance({"status": {"phase": phase}}, subresource="status")
        wanted = expected(health, phase)
        if (said := await settled(operator, told, wanted)) != wanted:
            wrong[health] = said
    assert wrong == {}
