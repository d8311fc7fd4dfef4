"""What does auto-stop do with an engine that a person starts or stops?"""

import json
from typing import Final

from kubectl_firebolt.manifest import Manifest, name_of, spec_of

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def effective_auto_stop(engine: Manifest, engine_class: Manifest | None) -> Manifest:
    """Taken whole from the engine, else whole from its class; empty if it is off."""
    own = spec_of(engine).get("autoStop")
    inherited = spec_of(engine_class).get("autoStop") if engine_class else None
    chosen: Manifest = own if own is not None else inherited or {}
    return chosen if chosen.get("enabled") else {}


def nodes_to_start(engine: Manifest, engine_class: Manifest | None) -> int | None:
    """As many as auto-stop would start, else as many as were last applied; None if nobody has said."""
    policy = effective_auto_stop(engine, engine_class)
    return _positive(policy.get("activeReplicas")) or _positive(_last_applied(engine).get("replicas"))


def after_stop(engine: Manifest, engine_class: Manifest | None) -> str:
    """How it may come up again, as it was before it was stopped."""
    policy = effective_auto_stop(engine, engine_class)
    if not policy:
        return f"queries are refused until it is started again: {_start(engine, engine_class)}"
    if policy.get("schedule"):
        return "auto-stop is on: the next query through the gateway starts it again, and so does its schedule"
    return "auto-stop is on: the next query through the gateway starts it again"


def _start(engine: Manifest, engine_class: Manifest | None) -> str:
    """With the number of nodes, where nothing else tells it once the engine is stopped."""
    command = f"kubectl firebolt engine start {name_of(engine)}"
    had = spec_of(engine).get("replicas", 1)
    return command if had in {0, nodes_to_start(engine, engine_class)} else f"{command} --replicas {had}"


def _last_applied(engine: Manifest) -> Manifest:
    annotations = engine["metadata"].get("annotations") or {}
    try:
        applied = json.loads(annotations.get(LAST_APPLIED, "{}"))
    except ValueError:
        return {}
    return spec_of(applied) if isinstance(applied, dict) else {}


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
