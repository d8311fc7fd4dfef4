"""An engine's world in memory, for what needs no API server: what is written is stored and told to the caches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec

from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED, FINALIZER_ENGINE, LABEL_ENGINE, LABEL_GENERATION
from firebolt_operator.api.resources import FIREBOLT_ENGINES, FIREBOLT_INSTANCES, PODS, STATEFULSETS
from firebolt_operator.engine.dependencies import EngineDependencies
from firebolt_operator.engine.inputs import EngineImages, EngineSettings
from firebolt_operator.engine.observe.caches import EngineCaches, engine_caches
from firebolt_operator.engine.observe.listeners import ListenerReader
from firebolt_operator.engine.observe.metrics import EngineRecorder, NoEngineRecorder
from firebolt_operator.engine.observe.scrape_lane import ScrapeLane, waiting_line
from firebolt_operator.engine.observe.scrape_places import ScrapePlaces
from firebolt_operator.engine.render.renderer import MemoisedRenderer
from firebolt_operator.evidence import spoil
from firebolt_operator.manifests.references import ref_of
from firebolt_operator.observability.events import EventSender
from firebolt_operator.policy.bounds import parse_bounds
from firebolt_operator.refs import Manifest, Ref, Resource
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.controller import Reconcile
from firebolt_operator.runtime.objects import Key
from tests.support.auth_step import auth_secrets
from tests.support.listeners import listener_reader
from tests.support.manual_clock import ManualClock
from tests.support.recorders import QueueNotes

NAMESPACE = "apps"
MOST_PASSES = 20
MANAGER = {"manager": "firebolt-operator", "operation": "Apply"}
INSTANCE: Manifest = {
    "spec": {"id": "01JINSTANCE", "metadata": {}, "gateway": {}},
    "status": {"phase": "Ready", "metadataReady": True, "metadataEndpoint": "main-metadata:7000"},
}


@dataclass
class MemoryApi:
    """Reader and Writer. Like the real door, it says that whoever asks it rests on more than caches."""

    caches: EngineCaches
    objects: dict[Ref, Manifest] = field(default_factory=dict[Ref, Manifest])
    requests: list[str] = field(default_factory=list[str])
    events: list[Manifest] = field(default_factory=list[Manifest])
    _version: int = 0

    async def get(self, ref: Ref, /) -> Manifest | None:
        self._asked("get", ref)
        return self.objects.get(ref)

    async def get_raw(self, ref: Ref, /) -> bytes | None:
        found = await self.get(ref)
        return None if found is None else msgspec.json.encode(found)

    async def pod_proxy_get(self, pod: Ref, port: int, path: str, /, **_how: object) -> bytes:
        self._asked(f"scrape {port}/{path} of", pod)
        return b"firebolt_running_queries 0\nfirebolt_suspended_queries 0\n"

    async def apply(self, manifest: Manifest, /) -> Manifest:
        return await self._write("apply", manifest)

    async def create(self, manifest: Manifest, /) -> Manifest:
        self.requests.append(f"create {manifest['kind']}")
        self.events.append(manifest)
        spoil()
        return manifest

    async def merge_patch(self, ref: Ref, patch: Mapping[str, Any], /, *, subresource: str = "") -> Manifest:
        del subresource
        known = self.objects[ref]
        metadata = known["metadata"] | {
            key: value for key, value in patch.get("metadata", {}).items() if key != "resourceVersion"
        }
        if "spec" not in patch:
            return await self._write("patch", known | dict(patch) | {"metadata": metadata})
        metadata |= {"generation": metadata["generation"] + 1}
        return await self._write("patch", known | {"spec": known["spec"] | patch["spec"], "metadata": metadata})

    async def update_status(self, manifest: Manifest, /) -> Manifest:
        known = self.objects[ref_of(manifest)]
        return await self._write("status", known | {"status": manifest["status"]})

    async def delete(self, ref: Ref, /, *, uid: str, **_how: object) -> None:
        self._asked("delete", ref)
        self.objects.pop(ref, None)
        for cache in (*self.caches.all(), self.caches.certificates):
            cache.deleted(ref, uid)

    async def _write(self, verb: str, manifest: Manifest) -> Manifest:
        ref = ref_of(manifest)
        self._asked(verb, ref)
        return self.put(manifest)

    def _asked(self, verb: str, ref: Ref) -> None:
        self.requests.append(f"{verb} {ref.resource.kind} {ref.name}")
        spoil()

    def put(self, manifest: Manifest) -> Manifest:
        """Somebody wrote it, and the caches have heard."""
        ref = ref_of(manifest)
        self._version += 1
        made = {
            "uid": f"uid-{ref.resource.kind}-{ref.namespace}-{ref.name}",
            "creationTimestamp": "2026-01-01T12:00:00Z",
            "generation": 1,
        }
        numbered = made | manifest["metadata"] | {"resourceVersion": str(self._version)}
        stored = manifest | {"metadata": numbered}
        if ref.resource == STATEFULSETS:
            stored["status"] = {"observedGeneration": 1}
            numbered["managedFields"] = [MANAGER | {"fieldsV1": {}}]
        self.objects[ref] = stored
        for cache in (*self.caches.all(), self.caches.certificates):
            cache.written(ref, msgspec.json.encode(stored))
        return stored


@dataclass
class OneEngine:
    """Nothing of it is there before `begin`."""

    name: str = "sales"
    namespace: str = NAMESPACE
    clock: Clock = field(default_factory=ManualClock)
    recorder: EngineRecorder = field(default_factory=NoEngineRecorder)
    caches: EngineCaches = field(default_factory=lambda: engine_caches((), ""))
    instance: Manifest = field(default_factory=lambda: INSTANCE)
    answered: Callable[[Key], None] = lambda _key: None
    max_rolling: int = 0
    most_cpu: str = ""  # that an engine may ask for
    api: MemoryApi = field(init=False)
    lane: ScrapeLane = field(init=False)
    listeners: ListenerReader = field(init=False)

    def __post_init__(self) -> None:
        self.api = MemoryApi(self.caches)
        self.listeners = listener_reader(self.caches, self.api, self.clock)  # type: ignore[arg-type]
        self.lane = ScrapeLane(
            instances=self.caches.instances,
            reader=self.api,  # type: ignore[arg-type]
            clock=self.clock,
            places=ScrapePlaces(self.clock, engines=1),
            proxy_pace=None,
            line=waiting_line(self.clock, QueueNotes()),
            answered=self.answered,
        )

    @property
    def key(self) -> tuple[str, str]:
        return self.namespace, self.name

    def beside(self, name: str, namespace: str) -> "OneEngine":
        """Another engine in the same world."""
        other = OneEngine(name, namespace, self.clock, self.recorder, self.caches, self.instance)
        other.api, other.lane, other.listeners = self.api, self.lane, self.listeners
        return other

    def dependencies(self) -> EngineDependencies:
        return EngineDependencies(
            caches=self.caches,
            reader=self.api,  # type: ignore[arg-type]
            writer=self.api,  # type: ignore[arg-type]
            events=EventSender(self.api, controller="fireboltengine", instance="memory"),  # type: ignore[arg-type]
            recorder=self.recorder,
            clock=self.clock,
            settings=EngineSettings(
                images=EngineImages(engine="engine:1", ui="ui:1"),
                bounds=parse_bounds(cpu=self.most_cpu, memory="", ephemeral_storage=""),
                drain_settle=timedelta(0),
                max_rolling=self.max_rolling,
            ),
            scrapes=self.lane,
            blueprint=MemoisedRenderer(),
            auth=auth_secrets(self.api, self.clock),  # type: ignore[arg-type]
            listeners=self.listeners,
        )

    async def come_to_rest(self, reconcile: Reconcile[Key], **spec: Any) -> None:
        """Made by a person, and followed until there is nothing left to do."""
        self.begin(**spec)
        await self._follow(reconcile)

    async def roll(self, reconcile: Reconcile[Key], **spec: Any) -> None:
        """Edited by a person, and followed until there is nothing left to do."""
        self.edit(**spec)
        await self._follow(reconcile)

    def edit(self, **spec: Any) -> None:
        stored = self.api.objects[Ref(FIREBOLT_ENGINES, self.namespace, self.name)]
        metadata = stored["metadata"] | {"generation": stored["metadata"]["generation"] + 1}
        self.api.put(stored | {"metadata": metadata, "spec": stored["spec"] | spec})

    def stamp(self) -> None:
        """A gateway asks for it."""
        stored = self.api.objects[Ref(FIREBOLT_ENGINES, self.namespace, self.name)]
        stamps = {ANNOTATION_WAKE_REQUESTED: self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")}
        self.api.put(stored | {"metadata": stored["metadata"] | {"annotations": stamps}})

    async def wake(self, reconcile: Reconcile[Key]) -> None:
        """Asked for by a gateway, and followed until there is nothing left to do."""
        self.stamp()
        await reconcile(self.key)
        await self._follow(reconcile)

    async def _follow(self, reconcile: Reconcile[Key]) -> None:
        for _ in range(MOST_PASSES):
            outcome = await reconcile(self.key)
            await self.let_pods_answer()
            self.make_pods()
            if outcome.reason == "at rest":
                return
        raise AssertionError(f"still not at rest: {self.api.requests}")

    def begin(self, **spec: Any) -> None:
        self.api.put(an_object(FIREBOLT_INSTANCES, "main", self.instance, self.namespace))
        wanted: Manifest = {"instanceRef": "main", "replicas": 2} | spec
        engine = an_object(FIREBOLT_ENGINES, self.name, {"spec": wanted}, self.namespace)
        engine["metadata"]["finalizers"] = [FINALIZER_ENGINE]
        self.api.put(engine)

    async def let_pods_answer(self) -> None:
        for topic in list(self.lane._open):
            await self.lane._answer(topic)

    def make_pods(self) -> None:
        """Ready at once, as many as each of its StatefulSets lacks."""
        for ref, stored in list(self.api.objects.items()):
            if ref.resource != STATEFULSETS or ref.namespace != self.namespace:
                continue
            for ordinal in range(stored["spec"]["replicas"] if ref.name.startswith(f"{self.name}-g") else 0):
                if Ref(PODS, self.namespace, f"{ref.name}-{ordinal}") not in self.api.objects:
                    self._put_pod(f"{ref.name}-{ordinal}", is_ready=True)

    def make_unready(self, pod: str) -> None:
        self._put_pod(pod, is_ready=False)

    def _put_pod(self, name: str, *, is_ready: bool) -> None:
        owner = self.api.objects[Ref(STATEFULSETS, self.namespace, name.rpartition("-")[0])]["metadata"]
        pod = an_object(PODS, name, {}, self.namespace)
        pod["metadata"] |= {
            "labels": {label: owner["labels"][label] for label in (LABEL_ENGINE, LABEL_GENERATION)},
            "ownerReferences": [
                {
                    "apiVersion": STATEFULSETS.api_version,
                    "kind": STATEFULSETS.kind,
                    "name": owner["name"],
                    "uid": owner["uid"],
                    "controller": True,
                }
            ],
        }
        ready = {"type": "Ready", "status": str(is_ready)}
        pod["status"] = {"phase": "Running", "podIP": "10.0.0.1", "conditions": [ready]}
        self.api.put(pod)


def an_object(resource: Resource, name: str, fields: Manifest, namespace: str = NAMESPACE) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **fields}
