"""What people do: edit and delete engines, delete and edit what belongs to them, and make objects under their names."""

from collections.abc import Iterator

from tests.model.passes import Ending
from tests.model.world import (
    GENERATIONS,
    STRANGER,
    UNSET,
    Budget,
    Engine,
    Gen,
    Pods,
    Service,
    Spec,
    State,
    Sts,
    Truth,
    with_gen,
    with_pods,
)

EDITED_BY_HAND = 7
"""The version of a StatefulSet that nobody asked the operator for."""


def people(state: State) -> Iterator[Ending]:
    engine = state.truth.engine
    if engine is None:
        if state.births_left:
            uid = state.last_uid + 1
            spec = Spec(0, is_stopped=False)
            born = Engine(uid, spec, has_finalizer=False, is_deleting=False, status=UNSET)
            truth = state.truth._replace(engine=born)
            yield Ending("recreate", state._replace(truth=truth, last_uid=uid, births_left=state.births_left - 1))
        return
    if engine.is_deleting:
        return
    yield from _edits(state, engine)
    yield from _disturbances(state, engine)


def _edits(state: State, engine: Engine) -> Iterator[Ending]:
    if state.births_left:
        truth = state.truth._replace(engine=engine._replace(is_deleting=True) if engine.has_finalizer else None)
        yield Ending("delete", state._replace(truth=truth))
    if state.edits_left:
        for is_stopped in (False, True):
            spec = Spec(engine.spec.version + 1, is_stopped)
            truth = state.truth._replace(engine=engine._replace(spec=spec))
            yield Ending(f"edit to {spec}", state._replace(truth=truth, edits_left=state.edits_left - 1))


def _disturbances(state: State, engine: Engine) -> Iterator[Ending]:
    """Nobody tells the operator: its watches will, each in its own time; pods are told of at once as ever."""
    if not engine.status.phase:
        return
    if state.losses_left:
        disturbed = state._replace(losses_left=state.losses_left - 1, is_disturbed=True)
        losses = (_service_losses, _generation_losses, _budget_losses)
        for name, truth in (loss for kind in losses for loss in kind(state.truth, engine)):
            yield Ending(name, disturbed._replace(truth=truth, seen=state.seen._replace(pods=truth.pods)))
    if state.strangers_left:
        disturbed = state._replace(strangers_left=state.strangers_left - 1, is_disturbed=True)
        for name, truth in _strangers(state.truth, engine):
            yield Ending(name, disturbed._replace(truth=truth, seen=state.seen._replace(pods=truth.pods)))


def _service_losses(truth: Truth, engine: Engine) -> Iterator[tuple[str, Truth]]:
    service = truth.children.service
    if service is None or service.owner != engine.uid:
        return
    yield "somebody deletes the Service", truth._replace(children=truth.children._replace(service=None))
    for selected in {engine.status.active, engine.status.current, engine.status.draining} - {service.selected, None}:
        if selected is not None and selected >= 0:
            pointed = truth.children._replace(service=Service(engine.uid, selected))
            yield f"somebody points the Service at g{selected}", truth._replace(children=pointed)


def _budget_losses(truth: Truth, engine: Engine) -> Iterator[tuple[str, Truth]]:
    budget = truth.children.budget
    if budget is not None and budget.owner == engine.uid:
        yield "somebody deletes the budget", truth._replace(children=truth.children._replace(budget=None))
        edited = truth.children._replace(budget=Budget(engine.uid, frozenset({GENERATIONS})))
        yield "somebody edits the budget", truth._replace(children=edited)


def _generation_losses(truth: Truth, engine: Engine) -> Iterator[tuple[str, Truth]]:
    for generation, gen in enumerate(truth.children.gens):
        sts = gen.sts
        if sts is not None and sts.owner == engine.uid and not sts.is_deleting:
            yield f"somebody deletes StatefulSet g{generation}", _replaced_sts(truth, generation, None)
            # It waits for a deletion, so no pod of it restarts.
            edited = gen._replace(sts=sts._replace(spec=sts.spec._replace(version=EDITED_BY_HAND)))
            yield f"somebody edits StatefulSet g{generation}", _with(truth, generation, edited)
        if gen.config_map == engine.uid:
            yield f"somebody deletes ConfigMap g{generation}", _with(truth, generation, gen._replace(config_map=0))
        if gen.headless == engine.uid:
            yield f"somebody deletes headless g{generation}", _with(truth, generation, gen._replace(headless=0))


def _strangers(truth: Truth, engine: Engine) -> Iterator[tuple[str, Truth]]:
    """Under the engine's own name, and under those of the generation that is there or comes next."""
    children = truth.children._replace(service=Service(STRANGER, 0))
    yield "somebody makes a Service of that name", truth._replace(children=children)
    if engine.has_budget:
        children = truth.children._replace(budget=Budget(STRANGER, frozenset({0})))
        yield "somebody makes a budget of that name", truth._replace(children=children)
    current = engine.status.current
    for generation in range(current, min(current + 2, GENERATIONS)):
        gen = truth.children.gens[generation]
        sts = Sts(STRANGER, Spec(0, is_stopped=True), is_deleting=False)
        yield f"somebody makes StatefulSet g{generation}", _replaced_sts(truth, generation, sts)
        yield f"somebody makes ConfigMap g{generation}", _with(truth, generation, gen._replace(config_map=STRANGER))
        yield f"somebody makes headless g{generation}", _with(truth, generation, gen._replace(headless=STRANGER))


def _with(truth: Truth, generation: int, gen: Gen) -> Truth:
    return truth._replace(children=with_gen(truth.children, generation, gen))


def _replaced_sts(truth: Truth, generation: int, sts: Sts | None) -> Truth:
    """Its pods go with it."""
    gen = truth.children.gens[generation]._replace(sts=sts)
    return _with(truth, generation, gen)._replace(pods=with_pods(truth.pods, generation, Pods()))
