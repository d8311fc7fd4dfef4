"""Everything that rendering one engine depends on, gathered once per pass."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.api.engine_preset import EnginePresetSpec
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES
from firebolt_operator.engine.listener import Listener
from firebolt_operator.manifests.owners import Owner
from firebolt_operator.manifests.secret_mounts import SecretMount
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassInfo:
    """The class an engine inherits from."""

    name: str
    spec: EngineClassSpec
    generation: int = 0  # metadata.generation
    kind: str = FIREBOLT_ENGINE_CLASSES.kind  # or that of the whole cluster's

    @property
    def is_namespaced(self) -> bool:
        return self.kind == FIREBOLT_ENGINE_CLASSES.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetInfo:
    """What all engines of the namespace inherit: over the class, under the engine's own spec."""

    name: str
    spec: EnginePresetSpec
    generation: int = 0  # metadata.generation


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceInfo:
    """What an engine takes from its instance.

    Authentication and TLS add their mounts, configuration sections and annotations here; rendering and drift then
    follow without knowing either feature.
    """

    id: str
    metadata_endpoint: str
    is_secured: bool = False  # then nothing is made, and nothing switched to, from a cached view of it
    protected_secrets: frozenset[str] = frozenset()
    secret_mounts: tuple[SecretMount, ...] = ()
    config_sections: Manifest = field(default_factory=dict)  # merged over the base document, below user config
    hash_annotations: Mapping[str, str] = field(default_factory=dict)
    scheme: str = "http"  # how the UI sidecar talks to the engine beside it
    listener: Listener | None = None  # None: plaintext


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineImages:
    engine: str  # with tag
    ui: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """What the operator's flags say about engines."""

    images: EngineImages
    bounds: ResourceBounds
    drain_settle: timedelta
    max_rolling: int = 0  # engines that roll at a time for the same cause; 0: as many as there are


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInputs:
    name: str
    namespace: str
    uid: str
    spec: EngineSpec
    engine_class: ClassInfo | None
    instance: InstanceInfo
    images: EngineImages
    preset: PresetInfo | None = None

    @property
    def owner(self) -> Owner:
        return Owner(resource=FIREBOLT_ENGINES, namespace=self.namespace, name=self.name, uid=self.uid)
