"""Was there a moment at which queries found nobody? Judged over the whole history of an engine, change by change."""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.api.crash.ledger import Change, World

from firebolt_operator.api import names
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True)
class Target:
    """Where the engine's Service sends queries."""

    replicas: int  # that its generation asks for
    problem: str = ""  # why queries would find nobody, or not everybody


def query_target(world: World, engine: str) -> Target:
    service = world.get(("Service", names.engine_service_name(engine)))
    if service is None:
        return Target(0, "there is no Service")
    selector: Manifest = service["spec"].get("selector", {})
    generation = selector.get(names.LABEL_GENERATION, "none")
    statefulset = world.get(("StatefulSet", f"{engine}-g{generation}"))
    if statefulset is None:
        return Target(0, f"the Service selects generation {generation}, which has no StatefulSet")
    if "deletionTimestamp" in statefulset["metadata"]:
        return Target(0, f"the Service selects generation {generation}, which is being deleted")
    wanted = statefulset["spec"]["replicas"]
    ready = sum(_is_ready(world.get(("Pod", f"{engine}-g{generation}-{ordinal}"))) for ordinal in range(wanted))
    if ready < wanted:
        return Target(wanted, f"generation {generation} has {ready} of {wanted} pods ready")
    return Target(wanted)


def _is_ready(pod: Manifest | None) -> bool:
    if pod is None or "deletionTimestamp" in pod["metadata"]:
        return False
    conditions: list[Manifest] = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def gaps(changes: Iterable[Change], engine: str) -> list[str]:
    """Every moment without a whole query target between the engine's first service and its deletion."""
    world: dict[tuple[str, str], Manifest] = {}
    has_served = False
    found: list[str] = []
    for change in sorted(changes, key=lambda each: each.version):
        _happen(world, change)
        if _is_leaving(world, engine):
            has_served = False
            continue
        target = query_target(world, engine)
        has_served = has_served or (not target.problem and target.replicas > 0)
        if has_served and target.problem:
            found.append(f"{change.version} ({change.kind} {change.name}): {target.problem}")
    return found


def _happen(world: dict[tuple[str, str], Manifest], change: Change) -> None:
    key = (change.kind, change.name)
    if change.after is None:
        world.pop(key, None)
    else:
        world[key] = change.after


def _is_leaving(world: World, engine: str) -> bool:
    found = world.get(("FireboltEngine", engine))
    return found is None or "deletionTimestamp" in found["metadata"]
