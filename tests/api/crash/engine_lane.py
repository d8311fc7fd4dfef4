"""A lane with one engine, and an instance that is ready as far as engines can tell."""

from collections import Counter
from typing import ClassVar, Final

from firebolt_local.testing.inventory import differences
from firebolt_local.testing.ledger import ENGINE_KINDS, World
from firebolt_operator.api.resources import FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.refs import Ref, Resource
from tests.api.crash.lanes import Lane
from tests.api.crash.leftovers import AtRest

ENGINE: Final = "eng"
INSTANCE: Final = "inst"


class EngineLane(Lane):
    kinds: ClassVar[tuple[Resource, ...]] = ENGINE_KINDS

    def objects(self, wanted: AtRest) -> Counter[str]:
        """What is there of an engine at rest."""
        return wanted.objects()

    def leftovers(self) -> Counter[str]:
        """What is there without an engine."""
        return Counter()

    async def furnish(self) -> None:
        """An instance that nobody works on."""
        await self.create(FIREBOLT_INSTANCES, INSTANCE, id="01TEST", metadata={}, gateway={})
        status = {"phase": "Ready", "metadataEndpoint": f"{INSTANCE}-metadata.{self.namespace}.svc.cluster.local:7000"}
        ref = Ref(FIREBOLT_INSTANCES, self.namespace, INSTANCE)
        await self.client.merge_patch(ref, {"status": status}, subresource="status")

    @property
    def generation(self) -> int:
        """The newest of the engine; -1 without one."""
        found = self.world.get((FIREBOLT_ENGINES.kind, ENGINE))
        return -1 if found is None else parse_engine(found).status.current_generation

    async def make_engine(self) -> None:
        await self.create(FIREBOLT_ENGINES, ENGINE, instanceRef=INSTANCE, replicas=2)

    async def edit_engine(self, **spec: object) -> None:
        await self.edit(FIREBOLT_ENGINES, ENGINE, **spec)

    async def delete_engine(self) -> None:
        await self.delete(FIREBOLT_ENGINES, ENGINE)

    async def bring_to(self, replicas: int | None) -> None:
        """To rest with so many replicas, or away."""
        is_there = (FIREBOLT_ENGINES.kind, ENGINE) in self.world
        if replicas is None:
            if is_there:
                await self.delete_engine()
            await self.until_gone()
            return
        if is_there:
            await self.edit_engine(replicas=replicas)
        else:
            await self.make_engine()
        await self.ledger.until(self.namespace, lambda world: self._unrest(world, replicas))

    def _unrest(self, world: World, replicas: int) -> list[str]:
        return self._differences(world, AtRest(name=ENGINE, generation=self.generation, replicas=replicas))

    async def until_at_rest(self, *, generation: int, replicas: int) -> None:
        wanted = AtRest(name=ENGINE, generation=generation, replicas=replicas)
        await self.ledger.until(self.namespace, lambda world: self._differences(world, wanted))
        await self.until_listed(self.kinds, self.objects(wanted))

    def _differences(self, world: World, wanted: AtRest) -> list[str]:
        return wanted.problems(world) or differences(world.values(), self.objects(wanted))

    async def until_gone(self) -> None:
        nothing = self.leftovers()
        is_engine = (FIREBOLT_ENGINES.kind, ENGINE)
        await self.ledger.until(
            self.namespace,
            lambda world: ["the engine is there"] if is_engine in world else differences(world.values(), nothing),
        )
        await self.until_listed(self.kinds, nothing)
