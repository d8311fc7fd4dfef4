"""What the caches keep of an engine's children: only the fields that a decision reads."""

import hashlib
from datetime import datetime
from typing import Any

import msgspec

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.names import (
    CONTAINER_ENGINE,
    ENGINE_CONFIG_KEY,
    LABEL_ENGINE,
    LABEL_GENERATION,
    is_engine_tls_name,
)
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.api.texts import MOST_CHARACTERS
from firebolt_operator.manifests.issued import IssuedSecret
from firebolt_operator.manifests.kept_metadata import kept_metadata
from firebolt_operator.manifests.managed_fields import is_ours
from firebolt_operator.manifests.shared_values import shared_text, shared_values
from firebolt_operator.manifests.subset import is_subset
from firebolt_operator.refs import Manifest

_WRITTEN = ("metadata", "spec", "data")


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """A StatefulSet, Service, ConfigMap, Certificate or its Secret, without status, bookkeeping and what is secret."""

    metadata: ObjectMeta
    spec: dict[str, Any] = {}  # of a StatefulSet without its template
    template: bytes = b""  # of a StatefulSet, as JSON: a tenth of what it takes once decoded, and seldom looked at
    data: dict[str, str] = {}  # of a ConfigMap: fingerprints of the values that we write, and nothing of any other
    applied: bytes = b""  # which fields of its spec we own, as the API server writes it down; of StatefulSets only
    is_observed: bool = True  # False of a StatefulSet that its controller has not come to yet
    ready_generation: int | None = None  # of a Certificate: which of its generations is issued; None: not the latest
    issued: IssuedSecret | None = None  # of a Secret

    @property
    def engine(self) -> str:
        return self.metadata.labels.get(LABEL_ENGINE, "")

    @property
    def generation(self) -> int | None:
        """The generation in its label; None where there is none, or no number."""
        return generation_number(self.metadata.labels.get(LABEL_GENERATION, ""))

    def whole_spec(self) -> Manifest:
        """Decoded anew with every call."""
        return {**self.spec, "template": msgspec.json.decode(self.template)} if self.template else self.spec

    def says(self, manifest: Manifest) -> bool:
        """All that we would write is there already; of a selector nothing else: one key more, and it finds nothing."""
        wanted = {key: manifest[key] for key in _WRITTEN if key in manifest}
        if "data" in wanted:
            wanted["data"] = {key: fingerprint(value) for key, value in wanted["data"].items()}
        has_selector = self.spec.get("selector") == wanted.get("spec", {}).get("selector")
        return has_selector and is_subset(wanted, msgspec.to_builtins(self) | {"spec": self.whole_spec()})

    def is_owned_by(self, uid: str) -> bool:
        owner = self.metadata.controller
        return owner is not None and owner.uid == uid

    def is_of_engine(self, uid: str) -> bool:
        """Also a Secret, for which cert-manager names no owner: it says for which Certificate it was written."""
        is_issued = self.issued is not None and is_engine_tls_name(self.engine, self.issued.issued_for)
        return is_issued or self.is_owned_by(uid)


def generation_number(text: str) -> int | None:
    is_number = len(text) <= MOST_CHARACTERS and text.isascii() and text.isdigit()
    return int(text) if is_number else None


class PodView(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One engine pod; flat and small, because there are many of them."""

    namespace: str
    name: str
    engine: str
    generation: int | None
    owner_uid: str  # of its controller; empty without one
    is_running: bool
    engine_ended: bool = False  # whatever else runs in the pod: it has no queries
    is_ready: bool
    is_deleting: bool
    ip: str
    trouble: str  # the pod's own words on why it is not ready; empty when it has none
    doubt: str = ""  # what may be wrong, or just takes its time: a probe that does not succeed yet


class _Waiting(msgspec.Struct, frozen=True):
    reason: str = ""
    message: str = ""


class _Terminated(msgspec.Struct, frozen=True, rename="camel"):
    reason: str = ""
    message: str = ""
    exit_code: int = 0


class _ContainerState(msgspec.Struct, frozen=True):
    waiting: _Waiting | None = None
    terminated: _Terminated | None = None


class _ContainerStatus(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    ready: bool = False
    started: bool = False
    restart_count: int = 0
    state: _ContainerState = _ContainerState()
    last_state: _ContainerState = _ContainerState()


class _PodCondition(msgspec.Struct, frozen=True):
    type: str
    status: str
    reason: str = ""
    message: str = ""


class _PodStatus(msgspec.Struct, frozen=True, rename="camel"):
    phase: str = ""
    reason: str = ""
    message: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    conditions: list[_PodCondition] = []
    init_container_statuses: list[_ContainerStatus] = []
    container_statuses: list[_ContainerStatus] = []


class _PodMeta(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    namespace: str
    labels: dict[str, str] = {}
    owner_references: list[dict[str, Any]] = []
    deletion_timestamp: datetime | None = None


class _Pod(msgspec.Struct, frozen=True):
    metadata: _PodMeta
    status: _PodStatus = _PodStatus()


class _OurData(msgspec.Struct, frozen=True):
    config: str | None = msgspec.field(default=None, name=ENGINE_CONFIG_KEY)


class _ConfigMap(msgspec.Struct, frozen=True):
    metadata: ObjectMeta
    data: _OurData | None = None


_pods = msgspec.json.Decoder(_Pod)
_config_maps = msgspec.json.Decoder(_ConfigMap)
_children = msgspec.json.Decoder(Child)


def decode_child(body: bytes) -> Child:
    return _kept(_children.decode(body))


def _kept(child: Child) -> Child:
    """Of what no engine owns, only that it is there: anybody may label anything like ours."""
    metadata = kept_metadata(child.metadata)
    if metadata.controller is not None and metadata.controller.kind == FIREBOLT_ENGINES.kind:
        return msgspec.structs.replace(child, metadata=metadata, spec=shared_values(child.spec))
    return Child(metadata=msgspec.structs.replace(metadata, annotations={}))


def decode_config_map(body: bytes) -> Child:
    """Anybody may fill a ConfigMap and label it like ours: its text is not kept, only whether it is what we write."""
    found = _config_maps.decode(body)
    config = found.data.config if found.data else None
    data = {} if config is None else {ENGINE_CONFIG_KEY: fingerprint(config)}
    return _kept(Child(metadata=found.metadata, data=data))


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


class _Fields(msgspec.Struct, frozen=True):
    """Not of the metadata: the owner's uid is in there, and no two engines would have the same."""

    spec: msgspec.Raw = msgspec.field(default=msgspec.Raw(b"{}"), name="f:spec")


class _ManagedFields(msgspec.Struct, frozen=True, rename="camel"):
    manager: str = ""
    operation: str = ""
    fields_v1: _Fields = msgspec.field(default=_Fields(), name="fieldsV1")


class _BookkeepingMeta(msgspec.Struct, frozen=True, rename="camel"):
    generation: int = 0
    managed_fields: list[_ManagedFields] = []


class _BookkeepingStatus(msgspec.Struct, frozen=True, rename="camel"):
    observed_generation: int = 0


class _Bookkeeping(msgspec.Struct, frozen=True):
    metadata: _BookkeepingMeta
    status: _BookkeepingStatus = _BookkeepingStatus()


_bookkeeping = msgspec.json.Decoder(_Bookkeeping)


def decode_statefulset(body: bytes) -> Child:
    kept = _bookkeeping.decode(body)
    entries = kept.metadata.managed_fields
    ours = next((each for each in entries if is_ours(each.manager, each.operation)), None)
    child = decode_child(body)
    return msgspec.structs.replace(
        child,
        spec={name: value for name, value in child.spec.items() if name != "template"},
        template=msgspec.json.encode(child.spec["template"]) if "template" in child.spec else b"",
        applied=shared_text(b'{"f:spec":%b}' % ours.fields_v1.spec) if ours and child.spec else b"",
        is_observed=kept.status.observed_generation >= kept.metadata.generation,
    )


def decode_pod(body: bytes) -> PodView:
    pod = _pods.decode(body)
    owner = next((each for each in pod.metadata.owner_references if each.get("controller")), {})
    is_running = pod.status.phase == "Running"
    is_ready = is_running and any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    return PodView(
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        engine=pod.metadata.labels.get(LABEL_ENGINE, ""),
        generation=generation_number(pod.metadata.labels.get(LABEL_GENERATION, "")),
        owner_uid=str(owner.get("uid", "")),
        is_running=is_running,
        engine_ended=_engine_ended(pod.status),
        is_ready=is_ready,
        is_deleting=pod.metadata.deletion_timestamp is not None,
        ip=pod.status.pod_ip,
        trouble="" if is_ready else _trouble(pod.status),
        doubt="" if is_ready else _doubt(pod.status),
    )


def _engine_ended(status: _PodStatus) -> bool:
    engine = next((each for each in status.container_statuses if each.name == CONTAINER_ENGINE), None)
    return engine is not None and (engine.state.waiting is not None or engine.state.terminated is not None)


def _trouble(status: _PodStatus) -> str:
    """The most telling sentence the pod has: a stuck container, then scheduling, then the pod as a whole."""
    for container in (*status.init_container_statuses, *status.container_statuses):
        words = _container_trouble(container)
        if words:
            return words
    for condition in status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return _sentence(condition.reason, condition.message)
    return _sentence(status.reason, status.message)


def _doubt(status: _PodStatus) -> str:
    unready = (each.name for each in status.container_statuses if each.started and not each.ready)
    return next((f"container {name}: started, but its readiness probe fails" for name in unready), "")


def _container_trouble(container: _ContainerStatus) -> str:
    waiting, last = container.state.waiting, container.last_state.terminated or container.state.terminated
    ending = f"; last exit {_sentence(last.reason, f'code {last.exit_code}')}" if last and last.exit_code else ""
    if waiting and waiting.reason not in {"", "ContainerCreating", "PodInitializing"}:
        return f"container {container.name}: {_sentence(waiting.reason, waiting.message)}{ending}"
    if ending and not container.ready:
        return f"container {container.name}: restarted {container.restart_count} time(s){ending}"
    return ""


def _sentence(reason: str, message: str) -> str:
    return ": ".join(word for word in (reason, " ".join(message.split())) if word)
