"""What must hold in every state, whatever happened. Judged by what the API server holds, not by what we saw."""

from collections.abc import Callable

from tests.model.world import State, Status, Truth

TERMINAL = ("stable", "stopped")
PHASES = ("", "creating", "switching", "draining", "cleaning", *TERMINAL)


def violated(state: State) -> str | None:
    """The name of the first broken rule."""
    engine = state.truth.engine
    if engine is None or engine.is_deleting:
        return None
    rules = RULES if state.is_disturbed else (*RULES, *UNDISTURBED)
    return next((rule.__name__ for rule in rules if not rule(state.truth)), None)


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


def budget_covers_what_the_service_selects(truth: Truth) -> bool:
    engine, service, budget = truth.engine, truth.children.service, truth.children.budget
    if engine is None or not engine.has_budget or service is None:
        return True
    return budget is not None and budget.owner == engine.uid and service.selected in budget.covered


def who_asks_for_no_budget_has_none(truth: Truth) -> bool:
    engine, budget = truth.engine, truth.children.budget
    return engine is None or engine.has_budget or budget is None or budget.owner != engine.uid


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
    draining_is_a_phase_of_its_own,
    draining_is_older,
    active_is_not_newer,
    quiesced_phase_matches_the_spec,
)
UNDISTURBED: tuple[Callable[[Truth], bool], ...] = (
    terminal_has_a_statefulset,
    active_has_a_statefulset,
    draining_has_a_statefulset,
    service_selects_what_exists,
    service_selects_what_the_status_knows,
    service_moves_only_while_switching,
    budget_covers_what_the_service_selects,
    who_asks_for_no_budget_has_none,
)
"""As long as nobody but the operator touches the children."""
