"""The engines of the benchmark: made and rolled by the operator, or by a plain client that does it all itself."""

from dataclasses import dataclass, field
from typing import Final

from bench.support.crowd import for_each
from bench.support.outsider import Outsider
from bench.support.watcher import PODS_PER_ENGINE
from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINES, SERVICES, STATEFULSETS
from firebolt_operator.engine.inputs import EngineImages, EngineInputs, InstanceInfo
from firebolt_operator.engine.render.renderer import EngineRenderer
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.manifests.references import ref_of
from firebolt_operator.refs import Manifest, Ref

INSTANCE: Final = "inst"
IMAGES: Final = EngineImages(engine="engine:1", ui="ui:1")


def engine_name(number: int) -> str:
    return f"eng-{number:04}"


def template(image: str) -> Manifest:
    return {"spec": {"containers": [{"name": names.CONTAINER_ENGINE, "image": image}]}}


@dataclass(frozen=True, slots=True)
class Fleet:
    """Engines as people ask for them."""

    client: KubeClient
    namespace: str

    async def create(self, count: int) -> None:
        await for_each(count, lambda number: self.client.create(self._engine(engine_name(number))))

    async def roll(self, count: int, image: str) -> None:
        patch = {"spec": {"template": template(image)}}
        await for_each(count, lambda number: self.client.merge_patch(self._ref(number), patch))

    async def touch(self, number: int, minutes: int) -> None:
        """An edit that rolls nothing, and is answered by a status."""
        await self.client.merge_patch(self._ref(number), {"spec": {"progressDeadline": f"{minutes}m"}})

    def _ref(self, number: int) -> Ref:
        return Ref(FIREBOLT_ENGINES, self.namespace, engine_name(number))

    def _engine(self, name: str) -> Manifest:
        return {
            "apiVersion": FIREBOLT_ENGINES.api_version,
            "kind": FIREBOLT_ENGINES.kind,
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"instanceRef": INSTANCE, "replicas": PODS_PER_ENGINE, "template": template("engine:1")},
        }


@dataclass(frozen=True, slots=True)
class PlainClient:
    """The same objects without an operator: no decisions, no status, no crash safety. The floor."""

    client: KubeClient
    namespace: str
    _uids: dict[Ref, str] = field(default_factory=dict[Ref, str])

    async def create(self, count: int) -> None:
        await for_each(count, lambda number: self._create(engine_name(number), 0))

    async def roll(self, count: int, outsider: Outsider) -> None:
        await for_each(count, lambda number: self._create(engine_name(number), 1))
        await outsider.until_pods_ready(count, 1)
        await for_each(count, lambda number: self._replace(engine_name(number)))

    async def _create(self, engine: str, generation: int) -> None:
        blueprint = EngineRenderer(self._inputs(engine))
        made = [
            blueprint.config_map(generation),
            blueprint.headless_service(generation),
            blueprint.statefulset(generation),
            *([blueprint.service(generation)] if generation == 0 else []),
        ]
        for manifest in made:
            stored = await self.client.create(_without_owner(manifest))
            self._uids[ref_of(manifest)] = stored["metadata"]["uid"]

    async def _replace(self, engine: str) -> None:
        service = Ref(SERVICES, self.namespace, names.engine_service_name(engine))
        await self.client.merge_patch(service, {"spec": {"selector": {names.LABEL_GENERATION: "1"}}})
        for resource, name in (
            (STATEFULSETS, names.statefulset_name(engine, 0)),
            (SERVICES, names.headless_service_name(engine, 0)),
            (CONFIG_MAPS, names.config_map_name(engine, 0)),
        ):
            ref = Ref(resource, self.namespace, name)
            await self.client.delete(ref, uid=self._uids[ref])

    def _inputs(self, engine: str) -> EngineInputs:
        return EngineInputs(
            name=engine,
            namespace=self.namespace,
            uid="",
            spec=EngineSpec(instance_ref=INSTANCE, replicas=PODS_PER_ENGINE),
            engine_class=None,
            instance=InstanceInfo(id="01BENCH", metadata_endpoint=f"{INSTANCE}-metadata:7000"),
            images=IMAGES,
        )


def _without_owner(manifest: Manifest) -> Manifest:
    metadata = {name: value for name, value in manifest["metadata"].items() if name != "ownerReferences"}
    return {**manifest, "metadata": metadata}
