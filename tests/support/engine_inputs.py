"""Inputs of a rendering, written as people write them: JSON of a spec; what a test does not care about is filled in."""

import copy
from typing import Any

import msgspec

from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.api.engine_preset import EnginePresetSpec
from firebolt_operator.engine.inputs import ClassInfo, EngineImages, EngineInputs, InstanceInfo, PresetInfo
from firebolt_operator.refs import Manifest

INSTANCE = InstanceInfo(id="01JINSTANCE", metadata_endpoint="main-metadata.apps.svc.cluster.local:7000")
IMAGES = EngineImages(
    engine="ghcr.io/firebolt-db/engine:release-5.0.1", ui="ghcr.io/firebolt-db/firebolt-core-ui:latest"
)


def engine_spec(**fields: Any) -> EngineSpec:
    """Fields as in YAML: `engine_spec(replicas=2, uiSidecar=True)`."""
    return msgspec.convert({"instanceRef": "main", "replicas": 2} | fields, EngineSpec)


def engine_class(**fields: Any) -> ClassInfo:
    return ClassInfo(name="shared", spec=msgspec.convert({"template": {}} | fields, EngineClassSpec))


def engine_preset(**fields: Any) -> PresetInfo:
    return PresetInfo(name="firebolt", spec=msgspec.convert({"template": {}} | fields, EnginePresetSpec))


def engine_inputs(
    spec: Manifest | None = None,
    of_class: Manifest | None = None,
    *,
    of_preset: Manifest | None = None,
    instance: InstanceInfo = INSTANCE,
) -> EngineInputs:
    return EngineInputs(
        name="sales",
        namespace="apps",
        uid="4b1c5a0e",
        spec=engine_spec(**copy.deepcopy(spec or {})),
        engine_class=None if of_class is None else engine_class(**copy.deepcopy(of_class)),
        preset=None if of_preset is None else engine_preset(**copy.deepcopy(of_preset)),
        instance=instance,
        images=IMAGES,
    )


def with_template(pod: Manifest | None = None, *, engine: Manifest | None = None) -> Manifest:
    """A spec whose template has these pod fields, and these fields on the engine container."""
    containers = [] if engine is None else [{"name": "engine"} | engine]
    fields = pod or {}
    if containers:
        fields = fields | {"containers": containers + fields.get("containers", [])}
    return {"template": {"spec": fields}}
