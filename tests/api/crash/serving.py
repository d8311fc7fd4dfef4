"""Was there a moment at which queries found nobody? Judged over the whole history of an engine, change by change."""

from collections.abc import Iterable

from firebolt_operator.api import names
from firebolt_operator.refs import Manifest
from tests.api.crash.ledger import Change, World


def query_problem(world: World, engine: str) -> str:
    """Why queries would find nobody, or not everybody, behind the engine's Service; empty if they would."""
    service = world.get(("Service", names.engine_service_name(engine)))
    if service is None:
        return "there is no Service"
    selector: Manifest = service["spec"].get("selector", {})
    generation = selector.get(names.LABEL_GENERATION, "none")
    statefulset = world.get(("StatefulSet", f"{engine}-g{generation}"))
    if statefulset is None:
        return f"the Service selects generation {generation}, which has no StatefulSet"
    if "deletionTimestamp" in statefulset["metadata"]:
        return f"the Service selects generation {generation}, which is being deleted"
    wanted = statefulset["spec"]["replicas"]
    ready = sum(_is_ready(world.get(("Pod", f"{engine}-g{generation}-{ordinal}"))) for ordinal in range(wanted))
    return "" if ready == wanted else f"generation {generation} has {ready} of {wanted} pods ready"


def _is_ready(pod: Manifest | None) -> bool:
    if pod is None or "deletionTimestamp" in pod["metadata"]:
        return False
    conditions: list[Manifest] = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def gaps(changes: Iterable[Change], engine: str) -> list[str]:
    """Every moment without a whole query target between the engine's first service and its deletion."""
    world: dict[tuple[str, str], Manifest] = {}
    found: list[str] = []
    for change in sorted(changes, key=lambda each: each.version):
        _happen(world, change)
        problem = query_problem(world, engine) if change.version and _serves(world, engine) else ""
        if problem:
            found.append(f"{change.version} ({change.kind} {change.name}): {problem}")
    return found


def _happen(world: dict[tuple[str, str], Manifest], change: Change) -> None:
    key = (change.kind, change.name)
    if change.after is None:
        world.pop(key, None)
    else:
        world[key] = change.after


def _serves(world: World, engine: str) -> bool:
    """It says so from its first generation on, and nobody has asked for its end."""
    found = world.get(("FireboltEngine", engine))
    if found is None or "deletionTimestamp" in found["metadata"]:
        return False
    return bool(found.get("status", {}).get("activeGeneration", -1) >= 0)
