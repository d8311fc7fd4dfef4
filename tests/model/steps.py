"""What a single step may do, and what a whole pass that saw everything must have done."""

from collections.abc import Callable

from tests.model.world import (
    JUST_SWITCHED,
    REPLICAS,
    STRANGER,
    TIMED_OUT,
    Engine,
    Gen,
    State,
    Status,
    Sts,
    Truth,
    serving,
)

LEFT_BEHIND = "a deleted engine leaves objects behind"
WENT_BACK = "generations never go back"
MATCHED = "the current generation is deleted although it matches"
UNREADY = "queries are switched to pods that are not ready"
BUSY = "a generation is deleted while it runs queries"
UNSETTLED = "a generation is deleted while resolvers still know it"
SERVED = "the generation that serves is deleted"
REACHED = "pods that queries are sent to are deleted without a drain"
ALONE = "the old generation is given up although the new one cannot serve"
MISLED = "the Service is pointed at a generation that does not serve"
FORSAKEN = "queries are led from ready pods to a generation that has none"
ABANDONED = "an abandoned generation is left behind"
UNROUTED = "a whole pass leaves queries without the generation that serves"


def broken_step(before: State, after: State, *, is_ours: bool) -> str | None:
    """The first rule that this step breaks; some bind only the operator."""
    old, new = before.truth.engine, after.truth.engine
    if old is not None and new is None and owned_by(old.uid, after.truth):
        return LEFT_BEHIND
    if old is None or new is None or old.uid != new.uid or new.is_deleting:
        return None
    if new.status.current < old.status.current:
        return WENT_BACK
    if not is_ours:
        return None
    return next((rule for rule, breaks in OURS if breaks(before, after, old, new)), None)


def _deletes_what_matches(before: State, after: State, old: Engine, new: Engine) -> bool:
    sts = before.truth.children.gens[old.status.current].sts
    is_fine = sts is not None and sts.spec == old.spec
    return is_fine and old.status.current in _deleted(before, after) and new.status.current == old.status.current


def _switches_too_soon(before: State, after: State, old: Engine, new: Engine) -> bool:
    del after
    sts = _known_sts(before, old.status.current)
    has_nodes = sts is None or not sts.spec.is_stopped
    advances = (old.status.phase, new.status.phase) == ("creating", "switching")
    return advances and has_nodes and before.seen.pods[old.status.current].ready < REPLICAS


def _deletes_what_is_busy(before: State, after: State, old: Engine, new: Engine) -> bool:
    del new
    busy = {generation for generation in _deleted(before, after) if before.truth.pods[generation].are_busy}
    return bool(busy) and not old.drain.is_skipped and not (old.drain.has_timeout and before.elapsed == TIMED_OUT)


def _deletes_too_soon(before: State, after: State, old: Engine, new: Engine) -> bool:
    del new
    draining = old.status.draining
    if draining is None or draining not in _deleted(before, after) or old.drain.is_skipped:
        return False
    return before.truth.pods[draining].total > 0 and before.elapsed == JUST_SWITCHED


def _deletes_what_serves(before: State, after: State, old: Engine, new: Engine) -> bool:
    del old
    return new.status.active in _deleted(before, after)


def _deletes_what_is_reached(before: State, after: State, old: Engine, new: Engine) -> bool:
    del new
    service = before.truth.children.service
    if before.is_disturbed or service is None or service.owner != old.uid:
        return False
    return service.selected in _deleted(before, after) and before.truth.pods[service.selected].ready > 0


def _gives_up_the_old_one(before: State, after: State, old: Engine, new: Engine) -> bool:
    del after
    if (old.status.phase, new.status.phase) != ("draining", "cleaning"):
        return False
    sts = _known_sts(before, old.status.active)
    # Either may be what the pass went by: it reads the engine live if the last write to it was not answered.
    specs = {old.spec, before.seen.engine.spec if before.seen.engine else old.spec}
    if _is_taken(before.truth.children.gens[old.status.active], old.uid) or (sts is not None and specs != {sts.spec}):
        return False
    is_stopped = sts.spec.is_stopped if sts is not None else any(spec.is_stopped for spec in specs)
    return not is_stopped and (sts is None or sts.is_deleting or before.truth.pods[old.status.active].ready == 0)


def _points_elsewhere(before: State, after: State, old: Engine, new: Engine) -> bool:
    service = after.truth.children.service
    if service is None or service == before.truth.children.service:
        return False
    allowed = {serving(old.status), serving(new.status)}
    if old.status.phase == "switching":
        allowed.add(old.status.current)
    return service.selected not in allowed


def _forsakes_ready_pods(before: State, after: State, old: Engine, new: Engine) -> bool:
    del new
    was, now = before.truth.children.service, after.truth.children.service
    if old.status.phase != "switching" or was is None or now is None or was.selected == now.selected:
        return False
    sts = _known_sts(before, now.selected)
    has_nodes = sts is None or not sts.spec.is_stopped
    pods = before.truth.pods
    return has_nodes and pods[now.selected].ready == 0 and pods[was.selected].ready > 0


Breaks = Callable[[State, State, Engine, Engine], bool]
OURS: tuple[tuple[str, Breaks], ...] = (
    (MATCHED, _deletes_what_matches),
    (UNREADY, _switches_too_soon),
    (BUSY, _deletes_what_is_busy),
    (UNSETTLED, _deletes_too_soon),
    (SERVED, _deletes_what_serves),
    (REACHED, _deletes_what_is_reached),
    (ALONE, _gives_up_the_old_one),
    (MISLED, _points_elsewhere),
    (FORSAKEN, _forsakes_ready_pods),
)


def _known_sts(state: State, generation: int) -> Sts | None:
    """What a cache does not know is read live; what it knows is believed."""
    known, real = (truth.children.gens[generation].sts for truth in (state.seen, state.truth))
    return known if known is not None else real


def _deleted(before: State, after: State) -> set[int]:
    """Generations whose StatefulSet was told to go."""
    both = zip(before.truth.children.gens, after.truth.children.gens, strict=True)
    return {number for number, (old, new) in enumerate(both) if _stays(old.sts) and not _stays(new.sts)}


def _stays(sts: Sts | None) -> bool:
    return sts is not None and not sts.is_deleting


def _is_taken(gen: Gen, uid: int) -> bool:
    owners = {gen.config_map, gen.headless, gen.sts.owner if gen.sts else 0}
    return bool(owners - {0, uid})


def owned_by(uid: int, truth: Truth) -> list[str]:
    """What is neither gone nor on its way out. Nobody waits for the garbage collector: it may be asked to orphan."""
    children = truth.children
    found = [f"g{number}" for number, gen in enumerate(children.gens) if _is_owned(gen, uid)]
    is_routed = children.service is not None and children.service.owner == uid
    return [*found, "the Service"] if is_routed else found


def _is_owned(gen: Gen, uid: int) -> bool:
    has_sts = gen.sts is not None and gen.sts.owner == uid and not gen.sts.is_deleting
    return has_sts or uid in {gen.config_map, gen.headless}


def broken_pass(before: State, after: State) -> str | None:
    """Of a pass that saw everything and was not disturbed."""
    old, new = before.truth.engine, after.truth.engine
    if before.seen != before.truth or before.suspects or old is None or new is None or new.is_deleting:
        return None
    if _has_leftovers(new, before.truth, after.truth):
        return ABANDONED
    if not old.has_finalizer or not old.status.phase:
        return None
    is_let_in = before.truth.gates.instance and before.truth.gates.engine_class
    if not is_let_in and old.status.active < 0 and not _stays(before.truth.children.gens[old.status.current].sts):
        return None  # nothing was made yet that could be reached
    return None if _is_routed(before.truth, after.truth, old, new.status) else UNROUTED


def _has_leftovers(engine: Engine, before: Truth, after: Truth) -> bool:
    """What queries are sent to is spared until they are sent elsewhere."""
    kept = {engine.status.current, engine.status.active, engine.status.draining}
    kept |= {truth.children.service.selected for truth in (before, after) if truth.children.service}
    return any(_is_owned(gen, engine.uid) for number, gen in enumerate(after.children.gens) if number not in kept)


def _is_routed(before: Truth, after: Truth, old: Engine, status: Status) -> bool:
    was, now = before.children.service, after.children.service
    if was is not None and was.owner != old.uid:
        return True  # somebody else's: nothing can be done
    allowed = {serving(old.status), serving(status)}
    if "switching" in {old.status.phase, status.phase}:
        allowed |= {status.active, status.current}
    return now is not None and now.selected in allowed


def leftovers(state: State) -> list[str]:
    """At rest nothing of any other generation is left, but what somebody else made."""
    engine = state.truth.engine
    kept = engine.status.current if engine else None
    return [
        f"g{generation}"
        for generation, gen in enumerate(state.truth.children.gens)
        if generation != kept and {gen.config_map, gen.headless, gen.sts.owner if gen.sts else 0} - {0, STRANGER}
    ]
