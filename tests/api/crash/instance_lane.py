"""A lane with one instance on simulated pods."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.refs import Manifest
from tests.api.crash.lanes import Lane
from tests.api.crash.ledger import INSTANCE_KINDS, World
from tests.api.crash.leftovers import differences

INSTANCE: Final = "inst"
FIRST_IMAGE: Final = "metadata:first"
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
    image: str = field(default=FIRST_IMAGE, init=False)  # that the metadata service was last asked to have

    async def make_instance(self) -> None:
        gateway = {"replicas": GATEWAY_PODS}
        await self.create(FIREBOLT_INSTANCES, INSTANCE, metadata={"template": _template(self.image)}, gateway=gateway)

    async def use_image(self, image: str) -> None:
        self.image = image
        await self.edit(FIREBOLT_INSTANCES, INSTANCE, metadata={"template": _template(image)})

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
        return differences(world.values(), EVERYTHING) or self._wrong_images(world)

    def _wrong_images(self, world: World) -> list[str]:
        labels = {names.LABEL_INSTANCE: INSTANCE, names.LABEL_COMPONENT: names.COMPONENT_METADATA}
        pods = (each for (kind, _), each in world.items() if kind == "Pod")
        mine = (each for each in pods if labels.items() <= each["metadata"].get("labels", {}).items())
        images = {each["spec"]["containers"][0]["image"] for each in mine}
        return [] if images == {self.image} else [f"the metadata service runs {images}, not {self.image}"]


def _left(world: World) -> list[str]:
    is_there = (FIREBOLT_INSTANCES.kind, INSTANCE) in world
    return ["the instance is there"] if is_there else differences(world.values(), NOTHING)


def _template(image: str) -> Manifest:
    return {"spec": {"containers": [{"name": names.CONTAINER_METADATA, "image": image}]}}
