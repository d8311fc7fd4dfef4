"""A lane with one instance on simulated pods."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from firebolt_local.testing.inventory import differences
from firebolt_local.testing.ledger import INSTANCE_KINDS, World
from firebolt_operator.api import names
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.refs import Manifest
from tests.api.crash.lanes import Lane

INSTANCE: Final = "inst"
FIRST_VERSION: Final = "first"
POSTGRES: Final = names.postgres_name(INSTANCE)
METADATA: Final = names.metadata_name(INSTANCE)
GATEWAY: Final = names.gateway_name(INSTANCE)
GATEWAY_PODS: Final = 2
NOTHING: Final[Counter[str]] = Counter()
EVERYTHING: Final = Counter(
    [
        f"Secret {names.metadata_credentials_name(INSTANCE)}",
        f"PersistentVolumeClaim {names.postgres_claim_name(INSTANCE)}",
        f"StatefulSet {POSTGRES}",
        f"ControllerRevision of {POSTGRES}",
        f"Pod {POSTGRES}-0",
        *(f"Service {name}" for name in (POSTGRES, METADATA, GATEWAY)),
        *(f"EndpointSlice of {name}" for name in (POSTGRES, METADATA, GATEWAY)),
        f"ConfigMap {names.metadata_config_name(INSTANCE)}",
        f"ConfigMap {names.gateway_config_name(INSTANCE)}",
        f"ConfigMap {names.gateway_accounts_name(INSTANCE)}",
        *(f"Deployment {name}" for name in (METADATA, GATEWAY)),
        *(f"ReplicaSet of {name}" for name in (METADATA, GATEWAY)),
        f"Pod of {METADATA}",
        *[f"Pod of {GATEWAY}"] * GATEWAY_PODS,
        *(f"{kind} {GATEWAY}" for kind in ("ServiceAccount", "Role", "RoleBinding", "PodDisruptionBudget")),
    ]
)
"""What a ready instance consists of."""


@dataclass(slots=True)
class InstanceLane(Lane):
    version: str = field(default=FIRST_VERSION, init=False)  # that both services were last asked to have

    async def make_instance(self) -> None:
        await self.create(FIREBOLT_INSTANCES, INSTANCE, **_spec(self.version))

    async def upgrade(self, version: str) -> None:
        self.version = version
        await self.edit(FIREBOLT_INSTANCES, INSTANCE, **_spec(version))

    async def delete_instance(self) -> None:
        await self.delete(FIREBOLT_INSTANCES, INSTANCE)

    async def bring_up(self) -> None:
        if (FIREBOLT_INSTANCES.kind, INSTANCE) not in self.world:
            await self.make_instance()
        await self.until_ready()

    async def bring_away(self) -> None:
        if (FIREBOLT_INSTANCES.kind, INSTANCE) in self.world:
            await self.delete_instance()
        await self.until_gone()

    async def until_ready(self) -> None:
        await self.ledger.until(self.namespace, self._unrest)
        await self.until_listed(INSTANCE_KINDS, EVERYTHING)

    async def until_gone(self) -> None:
        await self.ledger.until(self.namespace, _left)
        await self.until_listed(INSTANCE_KINDS, NOTHING)

    def _unrest(self, world: World) -> list[str]:
        instance = world.get((FIREBOLT_INSTANCES.kind, INSTANCE), {})
        phase = instance.get("status", {}).get("phase")
        if phase != "Ready":
            return [f"the instance is {phase}"]
        return differences(world.values(), EVERYTHING) or self._outdated(world)

    def _outdated(self, world: World) -> list[str]:
        running = {
            "the metadata service": {
                each["spec"]["containers"][0]["image"] for each in _pods(world, names.COMPONENT_METADATA)
            },
            "the gateway": {
                each["metadata"]["labels"].get("version") for each in _pods(world, names.COMPONENT_GATEWAY)
            },
        }
        wanted = {"the metadata service": {_image(self.version)}, "the gateway": {self.version}}
        return [f"{what} runs {running[what]}, not {wanted[what]}" for what in wanted if running[what] != wanted[what]]


def _pods(world: World, component: str) -> list[Manifest]:
    labels = {names.LABEL_INSTANCE: INSTANCE, names.LABEL_COMPONENT: component}
    pods = (each for (kind, _), each in world.items() if kind == "Pod")
    return [each for each in pods if labels.items() <= each["metadata"].get("labels", {}).items()]


def _left(world: World) -> list[str]:
    is_there = (FIREBOLT_INSTANCES.kind, INSTANCE) in world
    return ["the instance is there"] if is_there else differences(world.values(), NOTHING)


def _image(version: str) -> str:
    return f"metadata:{version}"


def _spec(version: str) -> Manifest:
    """Another image for the metadata service, other pods for the gateway."""
    containers = [{"name": names.CONTAINER_METADATA, "image": _image(version)}]
    labelled = {"metadata": {"labels": {"version": version}}}
    return {
        "metadata": {"template": {"spec": {"containers": containers}}},
        "gateway": {"replicas": GATEWAY_PODS, "template": labelled},
    }
