"""What do the templates of class, preset and engine ask for together? Our defaults come under, owned fields over it.

Every field that is not the operator's own passes through to the pod, known to us or not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final

import msgspec

from firebolt_operator.api.names import CONTAINER_ENGINE
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.manifests.reading import mapping, mappings
from firebolt_operator.policy.component_rules import ENGINE
from firebolt_operator.refs import Manifest

OWNED_POD_FIELDS: Final = frozenset(field.name for field in ENGINE.pod_fields)
OWNED_CONTAINER_FIELDS: Final = frozenset(field.name for field in ENGINE.primary_fields) | {"name"}
ENGINE_USER: Final = 3473  # its group and the pod's fsGroup as well
TOKEN_FIELD: Final = "automountServiceAccountToken"  # noqa: S105 - a field, not a token
COMPOSED_POD_FIELDS: Final = frozenset({"containers", "initContainers", "volumes", "securityContext"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveTemplate:
    """Fresh objects throughout: whoever renders may take them apart."""

    labels: dict[str, str]
    annotations: dict[str, str]
    pod: Manifest  # the pod's fields, without the ones below
    security_context: Manifest
    engine: Manifest  # what users ask of the engine container
    sidecars: list[Manifest]
    init_containers: list[Manifest]
    volumes: list[Manifest]


def effective_template(inputs: EngineInputs) -> EffectiveTemplate:
    inherited = (each.spec.template for each in (inputs.engine_class, inputs.preset) if each is not None)
    merged = reduce(_merged, map(_layer, (*inherited, inputs.spec.template)), _layer(None))
    pod = merged.pod
    return EffectiveTemplate(
        labels=merged.labels,
        annotations=merged.annotations,
        pod=_without(pod, OWNED_POD_FIELDS | COMPOSED_POD_FIELDS),
        security_context=_pod_security_context(mapping(pod.get("securityContext"))),
        engine=merged.engine,
        sidecars=merged.sidecars,
        init_containers=mappings(pod.get("initContainers")),
        volumes=mappings(pod.get("volumes")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    labels: dict[str, str]
    annotations: dict[str, str]
    pod: Manifest
    engine: Manifest
    sidecars: list[Manifest]


def _layer(template: Manifest | None) -> _Layer:
    document = mapping(msgspec.to_builtins(template))
    metadata, pod = mapping(document.get("metadata")), mapping(document.get("spec"))
    containers = mappings(pod.get("containers"))
    engine = next((each for each in containers if each.get("name") == CONTAINER_ENGINE), {})
    return _Layer(
        labels=_without_null(mapping(metadata.get("labels"))),
        annotations=_without_null(mapping(metadata.get("annotations"))),
        pod=pod,
        engine=_without(engine, OWNED_CONTAINER_FIELDS),
        sidecars=[each for each in containers if each.get("name") != CONTAINER_ENGINE],
    )


def _merged(under: _Layer, over: _Layer) -> _Layer:
    return _Layer(
        labels=under.labels | over.labels,
        annotations=under.annotations | over.annotations,
        pod=merge_fields(under.pod, over.pod),
        engine=merge_fields(under.engine, over.engine),
        sidecars=under.sidecars + over.sidecars,
    )


def asks_for_token(inputs: EngineInputs) -> bool:
    """Whether the engine, its preset or its class says anything, yes or no, about a token of the API server."""
    return effective_template(inputs).pod.get(TOKEN_FIELD) is not None


def _pod_security_context(chosen: Manifest) -> Manifest:
    return {"fsGroup": ENGINE_USER, "fsGroupChangePolicy": "OnRootMismatch"} | _without_null(chosen)


def _without(fields: Mapping[str, Any], names: Iterable[str]) -> Manifest:
    return {name: value for name, value in fields.items() if name not in names}


def _without_null(fields: Mapping[str, Any]) -> Manifest:
    return {name: value for name, value in fields.items() if value is not None}


KEY_BY_KEY: Final = frozenset({"nodeSelector"})
EMPTY_IS_UNSET: Final = frozenset({"nodeSelector", "overhead", "resources"})
"""Objects of which an empty one says nothing; any other, an empty securityContext for example, is a choice."""


def merge_fields(under: Mapping[str, Any], over: Mapping[str, Any]) -> Manifest:
    """Every field of both fragments once; what is set nowhere is left out."""
    merged = {name: _merge_field(name, under.get(name), over.get(name)) for name in {**under, **over}}
    return {name: value for name, value in merged.items() if _is_set(name, value)}


def _merge_field(name: str, under: Any, over: Any) -> Any:
    if isinstance(under, list) and isinstance(over, list):
        return [*under, *over]
    if name in KEY_BY_KEY and isinstance(under, dict) and isinstance(over, dict):
        return {**under, **over}
    return over if _is_set(name, over) else under


def _is_set(name: str, value: Any) -> bool:
    if isinstance(value, dict):
        return name not in EMPTY_IS_UNSET or any(part not in (None, {}, []) for part in value.values())
    return value is not None and value not in ("", [])
