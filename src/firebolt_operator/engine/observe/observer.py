"""What is there of one engine? Reads caches; asks the server only where a cache cannot be trusted to know.

Raises UnreadableError where something is there that cannot be decoded: it must not pass for missing.
"""

from dataclasses import dataclass, replace

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import FIREBOLT_ENGINES, POD_DISRUPTION_BUDGETS
from firebolt_operator.engine.facts import ABSENT, EngineFacts, GenerationFacts, count_pods, running_pods
from firebolt_operator.engine.observe.caches import EngineCaches
from firebolt_operator.engine.views import Child, PodView
from firebolt_operator.kube.ports import Reader
from firebolt_operator.policy.inherited import AnyClass
from firebolt_operator.reconciling.indexes import BY_ENGINE, term
from firebolt_operator.reconciling.reads import confirmed, known_or_live
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache


@dataclass(frozen=True, slots=True)
class Observer:
    caches: EngineCaches
    reader: Reader
    confirms_absence: bool = True

    @property
    def at_a_glance(self) -> "Observer":
        """For those who decide nothing from what is missing: it costs no request."""
        return replace(self, confirms_absence=False)

    async def engine(self, namespace: str, name: str) -> FireboltEngine | None:
        return await known_or_live(self.caches.engines, self.reader, Ref(FIREBOLT_ENGINES, namespace, name))

    async def engine_class(self, namespace: str, name: str) -> AnyClass | None:
        return await self.caches.inheritance(self.reader).engine_class(namespace, name)

    def preset(self, namespace: str) -> FireboltEnginePreset | None:
        return self.caches.inheritance(self.reader).preset(namespace)

    async def facts(self, engine: FireboltEngine) -> EngineFacts:
        status = engine.status
        pods = self.caches.pods.by_index(BY_ENGINE, term(engine.metadata.namespace, engine.metadata.name))
        current = await self._generation(engine, status.current_generation, pods)
        active = current
        if status.active_generation not in {-1, status.current_generation}:
            active = await self._generation(engine, status.active_generation, pods)
        service = await self._surely(
            self.caches.services, engine.metadata.namespace, names.engine_service_name(engine.metadata.name)
        )
        return EngineFacts(
            current=current,
            active=active if status.active_generation >= 0 else ABSENT,
            draining=await self._draining(engine, status, pods),
            service=service,
        )

    async def disruption_budget(self, engine: ObjectMeta, *, is_wanted: bool) -> Child | None:
        """Whoever wants none asks nobody: what is in no cache is not the engine's own."""
        ref = Ref(POD_DISRUPTION_BUDGETS, engine.namespace, names.disruption_budget_name(engine.name))
        read = confirmed if is_wanted else known_or_live
        return await read(self.caches.disruption_budgets, self.reader, ref)

    async def _draining(self, engine: FireboltEngine, status: EngineStatus, pods: list[PodView]) -> GenerationFacts:
        draining = status.draining_generation
        if draining is None or draining < 0 or draining == status.current_generation:
            return ABSENT
        return await self._generation(engine, draining, pods)

    async def _generation(self, engine: FireboltEngine, generation: int, pods: list[PodView]) -> GenerationFacts:
        namespace, name = engine.metadata.namespace, engine.metadata.name
        # What seems to be missing is made, or starts a generation: neither may rest on a filtered cache, which knows
        # nothing of objects that are somebody else's.
        statefulset = await self._surely(self.caches.statefulsets, namespace, names.statefulset_name(name, generation))
        uid = statefulset.metadata.uid if statefulset else ""
        self._check_pods(namespace, uid)
        mine = [pod for pod in pods if pod.generation == generation] if uid else []
        config_map = await self._surely(self.caches.config_maps, namespace, names.config_map_name(name, generation))
        headless = await self._surely(self.caches.services, namespace, names.headless_service_name(name, generation))
        return GenerationFacts(
            statefulset=statefulset,
            config_map=config_map,
            headless_service=headless,
            pods=count_pods(mine, uid),
            running_pods=running_pods(mine, uid),
        )

    def _check_pods(self, namespace: str, statefulset_uid: str) -> None:
        """A pod that cannot be read may be running queries: without it, nothing is known of its generation."""
        for aside in self.caches.pods.set_aside(namespace):
            if statefulset_uid in aside.owners:
                self.caches.pods.known(aside.header.key)

    async def _surely(self, cache: Cache[Child], namespace: str, name: str) -> Child | None:
        read = confirmed if self.confirms_absence else known_or_live
        return await read(cache, self.reader, Ref(cache.resource, namespace, name))
