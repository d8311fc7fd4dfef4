"""What must hold in every state, whatever happened. Judged by what the API server holds, not by what we saw."""

from collections.abc import Callable

from tests.model.world import Gen, State, Status, Truth

TERMINAL = ("stable", "stopped")
PHASES = ("", "creating", "switching", "draining", "cleaning", *TERMINAL)


def violated(state: State) -> str | None:
    """The name of the first broken rule."""
    engine = state.truth.engine
    if engine is None or engine.is_deleting:
        return None
    return next((rule.__name__ for rule in RULES if not rule(state.truth)), None)


def _has_sts(truth: Truth, generation: int) -> bool:
    engine, sts = truth.engine, truth.children.gens[generation].sts
    return engine is not None and sts is not None and not sts.is_deleting and sts.owner == engine.uid


def type_is_ok(truth: Truth) -> bool:
    status = _status(truth)
    return status.phase in PHASES and status.current >= 0 and status.active >= -1 and (status.draining or 0) >= 0


def terminal_means_one_generation(truth: Truth) -> bool:
    status = _status(truth)
    return status.phase not in TERMINAL or status.current == status.active


def terminal_means_nothing_drains(truth: Truth) -> bool:
    status = _status(truth)
    return status.phase not in TERMINAL or status.draining is None


def terminal_has_a_statefulset(truth: Truth) -> bool:
    status = _status(truth)
    return status.phase not in TERMINAL or _has_sts(truth, status.current)


def active_has_a_statefulset(truth: Truth) -> bool:
    status = _status(truth)
    return status.active < 0 or _has_sts(truth, status.active)


def draining_has_a_statefulset(truth: Truth) -> bool:
    status = _status(truth)
    return status.phase != "draining" or status.draining is None or _has_sts(truth, status.draining)


def service_selects_what_exists(truth: Truth) -> bool:
    status, service = _status(truth), truth.children.service
    return status.active < 0 or (service is not None and _has_sts(truth, service.selected))


def service_selects_what_the_status_knows(truth: Truth) -> bool:
    status, service = _status(truth), truth.children.service
    return status.active < 0 or (service is not None and service.selected in {status.active, status.current})


def service_moves_only_while_switching(truth: Truth) -> bool:
    status, service = _status(truth), truth.children.service
    return status.active < 0 or status.phase == "switching" or service is None or service.selected == status.active


def draining_is_a_phase_of_its_own(truth: Truth) -> bool:
    status = _status(truth)
    return status.draining is None or status.phase in {"draining", "cleaning"}


def draining_is_older(truth: Truth) -> bool:
    status = _status(truth)
    return status.draining is None or status.draining < status.current


def active_is_not_newer(truth: Truth) -> bool:
    status = _status(truth)
    return status.active <= status.current


def quiesced_phase_matches_the_spec(truth: Truth) -> bool:
    engine, status = truth.engine, _status(truth)
    is_quiet = status.phase in TERMINAL and not status.standing
    if engine is None or not is_quiet or status.observed != engine.spec.version + 1:
        return True
    return (status.phase == "stopped") == engine.spec.is_stopped


def _status(truth: Truth) -> Status:
    if truth.engine is None:
        raise RuntimeError("asked only of an engine that is there")
    return truth.engine.status


RULES: tuple[Callable[[Truth], bool], ...] = (
    type_is_ok,
    terminal_means_one_generation,
    terminal_means_nothing_drains,
    terminal_has_a_statefulset,
    active_has_a_statefulset,
    draining_has_a_statefulset,
    service_selects_what_exists,
    service_selects_what_the_status_knows,
    service_moves_only_while_switching,
    draining_is_a_phase_of_its_own,
    draining_is_older,
    active_is_not_newer,
    quiesced_phase_matches_the_spec,
)


def broken_step(before: State, after: State) -> str | None:
    """Rules about what a single step may do."""
    old, new = before.truth.engine, after.truth.engine
    if old is not None and new is None and owned_by(old.uid, after.truth):
        return "a deleted engine leaves objects behind"
    if old is None or new is None or old.uid != new.uid or new.is_deleting:
        return None
    if new.status.current < old.status.current:
        return "generations never go back"
    sts_before = before.truth.children.gens[old.status.current].sts
    sts_after = after.truth.children.gens[old.status.current].sts
    was_fine = sts_before is not None and not sts_before.is_deleting and sts_before.spec == old.spec
    is_going = sts_after is None or sts_after.is_deleting
    if was_fine and is_going and new.status.current == old.status.current:
        return "the current generation is deleted although it matches"
    advances = (old.status.phase, new.status.phase) == ("creating", "switching")
    has_nodes = sts_before is None or not sts_before.spec.is_stopped
    if advances and has_nodes and not before.seen.pods[old.status.current].are_ready:
        return "queries are switched to pods that are not ready"
    return None


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
    """A whole pass that saw everything leaves no object of a generation that nobody refers to."""
    engine = after.truth.engine
    if before.seen != before.truth or before.suspects or engine is None or engine.is_deleting:
        return None
    status = engine.status
    kept = {status.current, status.active, status.draining}
    for generation, gen in enumerate(after.truth.children.gens):
        is_there = gen.sts is not None and not gen.sts.is_deleting and gen.sts.owner == engine.uid
        if generation not in kept and (is_there or engine.uid in {gen.config_map, gen.headless}):
            return "an abandoned generation is left behind"
    return None


def leftovers(state: State) -> list[str]:
    """At rest nothing of any other generation is left."""
    engine = state.truth.engine
    if engine is None:
        return [f"g{generation}" for generation, gen in enumerate(state.truth.children.gens) if any(gen)]
    kept = engine.status.current
    return [
        f"g{generation}" for generation, gen in enumerate(state.truth.children.gens) if any(gen) and generation != kept
    ]
