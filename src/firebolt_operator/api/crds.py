"""What are our kinds to the API server? The CustomResourceDefinitions, made from the models."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import yaml

from firebolt_operator.api.cluster_engine_class import ClusterFireboltEngineClass
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import Model, rule
from firebolt_operator.api.names import PRESET_NAME
from firebolt_operator.api.resources import (
    CLUSTER_FIREBOLT_ENGINE_CLASSES,
    CUSTOM_RESOURCE_DEFINITIONS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
)
from firebolt_operator.api.schema import schema_of
from firebolt_operator.refs import Manifest, Resource

CATEGORY: Final = "firebolt"
SEPARATOR: Final = "---\n"

_SCALE: Final[Manifest] = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`."""

    name: str
    type: str
    path: str
    is_wide: bool = False  # shown by `-o wide` only

    def manifest(self) -> Manifest:
        shown = {"name": self.name, "type": self.type, "jsonPath": self.path}
        return shown | ({"priority": 1} if self.is_wide else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a CustomResourceDefinition says besides its schema."""

    resource: Resource
    model: type[Model]
    short_name: str
    columns: tuple[Column, ...]
    has_scale: bool = False
    has_status: bool = True
    rules: tuple[Manifest, ...] = ()  # on the object as a whole


def _ready(name: str, part: str, *, is_wide: bool = False) -> Column:
    return Column(name, "string", f'.status.conditions[?(@.type=="Ready")].{part}', is_wide=is_wide)


_AGE: Final = Column("Age", "date", ".metadata.creationTimestamp")
_BOUND: Final = Column("Bound", "integer", ".status.boundEngines")
_REASON: Final = _ready("Reason", "reason", is_wide=True)

KINDS: Final = (
    Kind(
        resource=FIREBOLT_INSTANCES,
        model=FireboltInstance,
        short_name="fire",
        columns=(
            Column("Phase", "string", ".status.phase"),
            Column("Gateway", "boolean", ".status.gatewayReady"),
            Column("Metadata", "boolean", ".status.metadataReady"),
            _AGE,
            _REASON,
        ),
    ),
    Kind(
        resource=FIREBOLT_ENGINES,
        model=FireboltEngine,
        short_name="fireng",
        columns=(
            Column("Replicas", "integer", ".spec.replicas"),
            Column("Phase", "string", ".status.phase"),
            _ready("Ready", "status"),
            Column("Generation", "integer", ".status.activeGeneration"),
            _AGE,
            Column("Pods", "integer", ".status.readyReplicas", is_wide=True),
            Column("Instance", "string", ".spec.instanceRef", is_wide=True),
            Column("Class", "string", ".spec.engineClassRef", is_wide=True),
            _REASON,
        ),
        has_scale=True,
    ),
    Kind(
        resource=FIREBOLT_ENGINE_CLASSES,
        model=FireboltEngineClass,
        short_name="firengc",
        columns=(_BOUND, _ready("Ready", "status"), _AGE),
    ),
    Kind(
        resource=FIREBOLT_ENGINE_PRESETS,
        model=FireboltEnginePreset,
        short_name="firengp",
        columns=(_BOUND, _ready("Ready", "status"), _AGE),
        rules=(
            rule(
                f"self.metadata.name == '{PRESET_NAME}'",
                f"FireboltEnginePreset must be named '{PRESET_NAME}'; the namespace singleton is enforced by name",
            ),
        ),
    ),
    Kind(
        resource=CLUSTER_FIREBOLT_ENGINE_CLASSES,
        model=ClusterFireboltEngineClass,
        short_name="cfirengc",
        columns=(_AGE,),
        has_status=False,
    ),
)


def crd_manifests() -> list[Manifest]:
    return [_definition(kind) for kind in KINDS]


def crd_files(annotations: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """The YAML text of each definition under the name of its file."""
    extra = {"annotations": dict(annotations)} if annotations else {}
    return {f"{kind.resource.plural}.yaml": _text(_definition(kind), extra) for kind in KINDS}


def _text(definition: Manifest, extra: Manifest) -> str:
    definition["metadata"] |= extra
    return yaml.dump(definition, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def crd_documents() -> str:
    """All of them as one stream of YAML documents, ready for `kubectl apply`."""
    return SEPARATOR.join(crd_files().values())


class _Dumper(yaml.CSafeDumper):
    """Writes shared parts out each time: the templates are one object here, and readers dislike anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _definition(kind: Kind) -> Manifest:
    resource = kind.resource
    return {
        "apiVersion": CUSTOM_RESOURCE_DEFINITIONS.api_version,
        "kind": CUSTOM_RESOURCE_DEFINITIONS.kind,
        "metadata": {"name": f"{resource.plural}.{resource.group}"},
        "spec": {
            "group": resource.group,
            "names": {
                "categories": [CATEGORY],
                "kind": resource.kind,
                "listKind": f"{resource.kind}List",
                "plural": resource.plural,
                "shortNames": [kind.short_name],
                "singular": resource.kind.lower(),
            },
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [_version(kind)],
        },
    }


def _version(kind: Kind) -> Manifest:
    return {
        "name": kind.resource.version,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [column.manifest() for column in kind.columns],
        "schema": {"openAPIV3Schema": _root_schema(kind)},
        **_subresources(kind),
    }


def _subresources(kind: Kind) -> Manifest:
    offered: Manifest = ({"status": {}} if kind.has_status else {}) | ({"scale": _SCALE} if kind.has_scale else {})
    return {"subresources": offered} if offered else {}


def _root_schema(kind: Kind) -> Manifest:
    schema = schema_of(kind.model)
    # metadata is the API server's own: a definition may name it but not describe it.
    inherent = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    own = {name: schema["properties"][name] for name in schema["properties"] if name not in inherent}
    required = [name for name in schema["required"] if name in own]
    return {
        "description": kind.model.__doc__,
        "type": "object",
        "properties": inherent | own,
        **({"required": required} if required else {}),
        **({"x-kubernetes-validations": list(kind.rules)} if kind.rules else {}),
    }
