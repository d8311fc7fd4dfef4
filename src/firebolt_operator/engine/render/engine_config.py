"""What does an engine's configuration file say?

The operator's document at the bottom, the custom configuration of class, preset and engine over it. Paths that belong
to the operator are taken out of all three first: the file must always agree with the pods it is made for.
"""

from collections.abc import Mapping
from functools import reduce
from typing import Any, Final

import msgspec

from firebolt_operator.api import names
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.refs import Manifest

CONFIG_KEY: Final = names.ENGINE_CONFIG_KEY
SCHEMA_VERSION: Final = "1.0"
GRACE_PERIOD_SECONDS: Final = 60  # of the pod; not for users, since the engine's own budget follows from it
_MARGIN_SECONDS: Final = 5

OWNED_SECTIONS: Final = frozenset({"schema_version", "endpoints"})
OWNED_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "instance": frozenset({"id", "type", "multi_engine", "auth"}),
    "engine": frozenset({"id", "nodes", "termination_grace_period"}),
}


def engine_config(inputs: EngineInputs, generation: int) -> Manifest:
    base = deep_merge(_operator_config(inputs, generation), inputs.instance.config_sections)
    config: Manifest = msgspec.to_builtins(deep_merge(base, merged_custom_config(inputs)))
    return config


def merged_custom_config(inputs: EngineInputs) -> Manifest:
    """The user's part, engine over preset over class, without what the operator owns."""
    layers = (*(each.spec for each in (inputs.engine_class, inputs.preset) if each is not None), inputs.spec)
    return reduce(deep_merge, (without_owned_paths(layer.custom_engine_config or {}) for layer in layers))


def deep_merge(under: Mapping[str, Any], over: Mapping[str, Any]) -> Manifest:
    """Objects are merged key by key; anything else, null included, replaces what was there."""
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        is_merge = isinstance(below, dict) and isinstance(value, dict)
        merged[key] = deep_merge(merged[key], value) if is_merge else value
    return merged


def without_owned_paths(config: Mapping[str, Any]) -> Manifest:
    kept = ((section, _user_part(section, content)) for section, content in config.items())
    return {section: content for section, content in kept if content is not _NOTHING}


_NOTHING: Final = object()


def _user_part(section: str, content: Any) -> Any:
    if section in OWNED_SECTIONS:
        return _NOTHING
    owned = OWNED_KEYS.get(section)
    if owned is None:
        return content
    if not isinstance(content, dict):
        # A scalar here would replace the operator's whole section.
        return _NOTHING
    return {key: value for key, value in content.items() if key not in owned} or _NOTHING


def drain_budget_seconds(grace_period_seconds: int) -> int:
    """How long the engine may finish queries after SIGTERM: less than the pod gets, so that it exits by itself."""
    return max(grace_period_seconds - _MARGIN_SECONDS, 1)


def _operator_config(inputs: EngineInputs, generation: int) -> Manifest:
    endpoint = inputs.spec.metadata_endpoint_override or inputs.instance.metadata_endpoint
    return {
        "schema_version": SCHEMA_VERSION,
        "instance": {
            "id": inputs.instance.id,
            "type": "multi_engine",
            "multi_engine": {"metadata_endpoint": endpoint},
        },
        "engine": {
            "id": inputs.name,
            "nodes": [{"host": _node_host(inputs, generation, node)} for node in range(inputs.spec.replicas)],
            "termination_grace_period": f"{drain_budget_seconds(GRACE_PERIOD_SECONDS)}s",
        },
        "logging": {"format": "json"},
    }


def _node_host(inputs: EngineInputs, generation: int, node: int) -> str:
    """The full name, since TLS certificates are issued for it."""
    pod = f"{names.statefulset_name(inputs.name, generation)}-{node}"
    return f"{pod}.{names.headless_service_name(inputs.name, generation)}.{inputs.namespace}.svc.cluster.local"
