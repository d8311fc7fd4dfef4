"""Was there a moment at which queries found nobody? Judged over the whole history of an engine, change by change."""

from collections.abc import Iterable

from firebolt_local.testing.ledger import Change, World
from firebolt_operator.api import names
from firebolt_operator.refs import Manifest


def query_problem(world: World, engine: str, partial: int = -1) -> str:
    """Why queries would find nobody, or not everybody, behind the engine's Service; empty if they would.

    Of the `partial` generation anybody will do.
    """
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
    needed = min(wanted, 1) if generation == str(partial) else wanted
    return "" if ready >= needed else f"generation {generation} has {ready} of {wanted} pods ready"


def _is_ready(pod: Manifest | None) -> bool:
    if pod is None or "deletionTimestamp" in pod["metadata"]:
        return False
    conditions: list[Manifest] = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def gaps(changes: Iterable[Change], engine: str) -> list[str]:
    """Every moment without a whole query target between the engine's first service and its deletion."""
    world: dict[tuple[str, str], Manifest] = {}
    found: list[str] = []
    partial = -1
    for change in sorted(changes, key=lambda each: each.version):
        before = _generations(world, engine)
        _happen(world, change)
        partial = _abandoned_first(before, _generations(world, engine), partial)
        problem = query_problem(world, engine, partial) if change.version and _serves(world, engine) else ""
        if problem:
            found.append(f"{change.version} ({change.kind} {change.name}): {problem}")
    return found


def _abandoned_first(before: tuple[int, int], after: tuple[int, int], known: int) -> int:
    """A first generation that is edited while only some of its pods take queries stays until the next can (ADR 16)."""
    (active, current) = after
    return active if before[0] < 0 <= active != current else known


def _generations(world: World, engine: str) -> tuple[int, int]:
    """The active and the current one."""
    status: Manifest = world.get(("FireboltEngine", engine), {}).get("status", {})
    return status.get("activeGeneration", -1), status.get("currentGeneration", -1)


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
    return _generations(world, engine)[0] >= 0
