"""Real objects for the search's small values, and back. Rendering is the real one, memoised."""

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cache

import msgspec

from firebolt_operator.api import kstatus, names
from firebolt_operator.api.conditions import Condition, find_condition
from firebolt_operator.api.engine import EngineSpec, EngineStatus, FireboltEngine
from firebolt_operator.api.engine_class import EngineClassSpec, EngineClassStatus, FireboltEngineClass
from firebolt_operator.api.engine_settings import DisruptionBudget
from firebolt_operator.api.instance import FireboltInstance, GatewaySpec, InstanceSpec, InstanceStatus, MetadataSpec
from firebolt_operator.api.model import ObjectMeta, OwnerReference
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.engine.answers import Activity, Answers, pod_key
from firebolt_operator.engine.decide.gates import instance_gate
from firebolt_operator.engine.inputs import EngineImages, EngineInputs, InstanceInfo
from firebolt_operator.engine.render.renderer import EngineRenderer
from firebolt_operator.engine.views import Child, PodView, fingerprint
from firebolt_operator.refs import Manifest, Ref
from tests.model.world import (
    BUSY,
    REPLICAS,
    SILENT,
    STRANGER,
    Budget,
    Drain,
    Engine,
    Heard,
    Pods,
    Service,
    Spec,
    Status,
    Sts,
)
from tests.support.engines import NOON

NAMESPACE, ENGINE, INSTANCE, CLASS = "ns", "eng", "inst", "class"
SETTLE = timedelta(seconds=35)
TIMEOUT = 5 * SETTLE
IMAGES = EngineImages(engine="engine:1", ui="ui:1")
VERSION = "version"
MOST_UNAVAILABLE = 1


def engine_uid(number: int) -> str:
    return f"engine-{number}"


def engine_number(uid: str) -> int:
    return int(uid.removeprefix("engine-"))


@cache
def engine_spec(spec: Spec, drain: Drain, *, has_budget: bool = False) -> EngineSpec:
    containers = [{"name": "engine", "env": [{"name": VERSION, "value": str(spec.version)}]}]
    return EngineSpec(
        instance_ref=INSTANCE,
        engine_class_ref=CLASS,
        replicas=0 if spec.is_stopped else REPLICAS,
        rollout="recreate" if drain.is_skipped else None,
        drain_timeout=f"{TIMEOUT.seconds}s" if drain.has_timeout else None,
        template={"spec": {"containers": containers}},
        pod_disruption_budget=DisruptionBudget(max_unavailable=MOST_UNAVAILABLE) if has_budget else None,
    )


@cache
def model_spec(version: str, replicas: int) -> Spec:
    return Spec(int(version), is_stopped=replicas == 0)


_KNOWN_STATUS: dict[Status, EngineStatus] = {}


def real_status(status: Status) -> EngineStatus:
    """The one that was once written for it: whatever the search does not tell apart is taken from there."""
    if status in _KNOWN_STATUS:
        return _KNOWN_STATUS[status]
    if status.phase:
        raise RuntimeError(f"nobody wrote {status}")
    return EngineStatus(current_generation=0, active_generation=-1)


def model_status(status: EngineStatus) -> Status:
    instance = find_condition(status.conditions, names.CONDITION_INSTANCE_READY)
    ready = find_condition(status.conditions, names.CONDITION_READY)
    if status.switched_at is not None:
        # The search keeps apart whether the settle time has passed; the instant itself tells nothing more.
        status = msgspec.structs.replace(status, switched_at=NOON)
    model = Status(
        phase=status.phase,
        current=status.current_generation,
        active=status.active_generation,
        draining=status.draining_generation,
        observed=status.observed_generation,
        instance_ready=instance.is_true if instance else None,
        ready_reason=ready.reason if ready else "",
        standing=next((each.type for each in status.conditions if each.type in kstatus.KINDS), ""),
    )
    _KNOWN_STATUS.setdefault(model, status)
    return model


@cache
def real_engine(engine: Engine, version: int) -> FireboltEngine:
    metadata = ObjectMeta(
        name=ENGINE,
        namespace=NAMESPACE,
        uid=engine_uid(engine.uid),
        resource_version=str(version),
        generation=engine.spec.version + 1,
        finalizers=[names.FINALIZER_ENGINE] if engine.has_finalizer else [],
        deletion_timestamp=NOON if engine.is_deleting else None,
    )
    spec = engine_spec(engine.spec, engine.drain, has_budget=engine.has_budget)
    return FireboltEngine(metadata=metadata, spec=spec, status=real_status(engine.status))


def blueprint(inputs: EngineInputs) -> "MemoBlueprint":
    environment = (inputs.spec.template or {})["spec"]["containers"][0]["env"]
    return MemoBlueprint(engine_number(inputs.uid), model_spec(environment[0]["value"], inputs.spec.replicas))


class MemoBlueprint:
    """The real rendering and the real comparison, each asked once."""

    def __init__(self, owner: int, spec: Spec) -> None:
        self._owner = owner
        self._spec = spec

    def certificates(self, generation: int) -> tuple[Manifest, ...]:
        return real_blueprint(self._owner, self._spec).certificates(generation)

    def config_map(self, generation: int) -> Manifest:
        return rendered(self._owner, self._spec, "config_map", generation)

    def headless_service(self, generation: int) -> Manifest:
        return rendered(self._owner, self._spec, "headless_service", generation)

    def statefulset(self, generation: int) -> Manifest:
        return rendered(self._owner, self._spec, "statefulset", generation)

    def service(self, generation: int) -> Manifest:
        return rendered(self._owner, self._spec, "service", generation)

    def disruption_budget(self, generations: Collection[int], most: int | str) -> Manifest:
        return real_blueprint(self._owner, self._spec).disruption_budget(generations, most)

    def drift(self, statefulset: Child) -> str | None:
        if not statefulset.spec:
            return "nothing is known of what is somebody else's"
        return drift(self._spec, spec_of(statefulset.whole_spec()), statefulset.generation or 0)


@cache
def real_blueprint(owner: int, spec: Spec) -> EngineRenderer:
    inputs = EngineInputs(
        name=ENGINE,
        namespace=NAMESPACE,
        uid=engine_uid(owner),
        spec=engine_spec(spec, Drain()),
        engine_class=None,
        instance=instance_info(),
        images=IMAGES,
    )
    return EngineRenderer(inputs)


@cache
def rendered(owner: int, spec: Spec, what: str, generation: int) -> Manifest:
    manifest: Manifest = getattr(real_blueprint(owner, spec), what)(generation)
    return manifest


@cache
def drift(wanted: Spec, live: Spec, generation: int) -> str | None:
    return real_blueprint(1, wanted).drift(real_sts(Sts(1, live, is_deleting=False), generation))


def spec_of(statefulset_spec: Manifest) -> Spec:
    environment = statefulset_spec["template"]["spec"]["containers"][0]["env"]
    version = next(entry["value"] for entry in environment if entry["name"] == VERSION)
    return model_spec(version, statefulset_spec["replicas"])


@cache
def real_sts(sts: Sts, generation: int) -> Child:
    return child(rendered(sts.owner, sts.spec, "statefulset", generation), sts.owner, is_deleting=sts.is_deleting)


@cache
def real_config_map(owner: int, generation: int) -> Child:
    return child(rendered(owner, Spec(0, is_stopped=False), "config_map", generation), owner)


@cache
def real_headless(owner: int, generation: int) -> Child:
    return child(rendered(owner, Spec(0, is_stopped=False), "headless_service", generation), owner)


@cache
def real_service(service: Service) -> Child:
    spec = Spec(0, is_stopped=False)
    return child(rendered(service.owner, spec, "service", service.selected), service.owner)


@cache
def real_budget(budget: Budget) -> Child:
    blueprint = real_blueprint(budget.owner, Spec(0, is_stopped=False))
    return child(blueprint.disruption_budget(budget.covered, MOST_UNAVAILABLE), budget.owner)


def covered_by(manifest: Manifest) -> frozenset[int]:
    (expression,) = manifest["spec"]["selector"]["matchExpressions"]
    return frozenset(int(value) for value in expression["values"])


def child(manifest: Manifest, owner: int, *, is_deleting: bool = False) -> Child:
    """As the server holds it; a stranger's has our name and nothing else of ours."""
    metadata = manifest["metadata"]
    is_ours = owner != STRANGER
    owners = [
        OwnerReference(
            api_version=each["apiVersion"],
            kind=each["kind"],
            name=each["name"],
            uid=each["uid"],
            controller=True,
            block_owner_deletion=True,
        )
        for each in metadata["ownerReferences"]
        if is_ours
    ]
    return Child(
        metadata=ObjectMeta(
            name=metadata["name"],
            namespace=NAMESPACE,
            uid=f"{manifest['kind']}-{metadata['name']}-{owner}",
            labels=metadata["labels"] if is_ours else {},
            annotations=metadata.get("annotations", {}),
            owner_references=owners,
            deletion_timestamp=NOON if is_deleting else None,
            creation_timestamp=NOON,
        ),
        spec=manifest.get("spec", {}),
        data={key: fingerprint(value) for key, value in manifest.get("data", {}).items()},
    )


@cache
def real_pods(pods: Pods, generation: int, owner: int, *, are_going: bool) -> tuple[PodView, ...]:
    name = names.statefulset_name(ENGINE, generation)
    return tuple(
        PodView(
            namespace=NAMESPACE,
            name=f"{name}-{index}",
            engine=ENGINE,
            generation=generation,
            owner_uid=f"StatefulSet-{name}-{owner}",
            is_running=True,
            is_ready=index < pods.ready,
            is_deleting=are_going,
            ip="10.0.0.1",
            trouble="",
        )
        for index in range(pods.total)
    )


@cache
def real_answers(heard: Heard, asked_at: datetime) -> Answers:
    """The last pod has the queries, or is silent: nobody gets away with listening to the first only."""
    pods = real_pods(Pods(heard.total, 0), heard.generation, heard.owner, are_going=False)
    last: Activity | str = f"{pods[-1].name} does not answer" if heard.verdict == SILENT else Activity(0, 0)
    last = Activity(1, 0) if heard.verdict == BUSY else last
    told = {pod_key(pod): last if pod is pods[-1] else Activity(0, 0) for pod in pods}
    return Answers(asked_at=asked_at, told=told)


@cache
def real_class(*, is_ready: bool) -> FireboltEngineClass:
    verdict = ("True", "Admissible") if is_ready else ("False", "OperatorOwnedFieldSet")
    condition = Condition(
        type="Ready",
        status="True" if is_ready else "False",
        reason=verdict[1],
        message="",
        last_transition_time=NOON,
    )
    return FireboltEngineClass(
        metadata=ObjectMeta(name=CLASS, namespace=NAMESPACE),
        spec=EngineClassSpec(template={}),
        status=EngineClassStatus(conditions=[condition]),
    )


@cache
def real_instance(*, is_ready: bool) -> FireboltInstance:
    status = InstanceStatus(
        phase="Ready" if is_ready else "Degraded", metadata_endpoint="meta:7000" if is_ready else ""
    )
    return FireboltInstance(
        metadata=ObjectMeta(name=INSTANCE, namespace=NAMESPACE),
        spec=InstanceSpec(id="id", metadata=MetadataSpec(), gateway=GatewaySpec()),
        status=status,
    )


@cache
def instance_info() -> InstanceInfo:
    found = instance_gate(Ref(FIREBOLT_INSTANCES, NAMESPACE, INSTANCE), real_instance(is_ready=True))
    if not isinstance(found, InstanceInfo):
        raise TypeError(found)
    return found
