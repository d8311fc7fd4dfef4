"""What can happen around the operator: people, pods, gates, garbage collection, time, watches."""

from collections.abc import Iterator

from tests.model.passes import Ending
from tests.model.world import (
    GENERATIONS,
    UNSET,
    Engine,
    Gates,
    Gen,
    Pods,
    Spec,
    State,
    Truth,
    with_gen,
    with_pods,
)


def happenings(state: State) -> Iterator[Ending]:
    for name, truth in (*_pods(state.truth), *_gates(state.truth)):
        # Told at once: a pod or a gate that is told of later is the same as one that changes later.
        seen = state.seen._replace(pods=truth.pods, gates=truth.gates)
        yield Ending(name, state._replace(truth=truth, seen=seen))
    for name, truth in _garbage(state.truth):
        yield Ending(name, state._replace(truth=truth, seen=state.seen._replace(pods=truth.pods)))
    yield from _people(state)
    yield from _time(state)
    yield from _watches(state)


def _people(state: State) -> Iterator[Ending]:
    engine = state.truth.engine
    if engine is None:
        if state.births_left:
            uid = state.last_uid + 1
            born = Engine(uid, Spec(0, is_stopped=False), has_finalizer=False, is_deleting=False, status=UNSET)
            truth = state.truth._replace(engine=born)
            yield Ending("recreate", state._replace(truth=truth, last_uid=uid, births_left=state.births_left - 1))
        return
    if engine.is_deleting:
        return
    if state.births_left:
        truth = state.truth._replace(engine=engine._replace(is_deleting=True) if engine.has_finalizer else None)
        yield Ending("delete", state._replace(truth=truth))
    if state.edits_left:
        for is_stopped in (False, True):
            spec = Spec(engine.spec.version + 1, is_stopped)
            truth = state.truth._replace(engine=engine._replace(spec=spec))
            yield Ending(f"edit to {spec}", state._replace(truth=truth, edits_left=state.edits_left - 1))


def _pods(truth: Truth) -> Iterator[tuple[str, Truth]]:
    for generation in range(GENERATIONS):
        gen, pods = truth.children.gens[generation], truth.pods[generation]
        if gen.sts is None or gen.sts.is_deleting or gen.sts.spec.is_stopped:
            continue
        if not pods.exist:
            yield f"pods of g{generation} appear", _with(truth, generation, Pods(exist=True))
            continue
        ready = pods._replace(are_ready=not pods.are_ready)
        yield f"pods of g{generation} ready={ready.are_ready}", _with(truth, generation, ready)
        if truth.engine is not None and truth.engine.status.draining == generation:
            busy = pods._replace(are_busy=not pods.are_busy)
            yield f"pods of g{generation} busy={busy.are_busy}", _with(truth, generation, busy)


def _with(truth: Truth, generation: int, pods: Pods) -> Truth:
    return truth._replace(pods=with_pods(truth.pods, generation, pods))


def _gates(truth: Truth) -> Iterator[tuple[str, Truth]]:
    gates = truth.gates
    yield "instance flips", truth._replace(gates=gates._replace(instance=not gates.instance))
    yield "class flips", truth._replace(gates=gates._replace(engine_class=not gates.engine_class))


def _garbage(truth: Truth) -> Iterator[tuple[str, Truth]]:
    """Foreground deletions end; what an engine of another uid owned is collected."""
    living = truth.engine.uid if truth.engine else 0
    for generation, gen in enumerate(truth.children.gens):
        if gen.sts is not None and gen.sts.is_deleting:
            yield f"g{generation} is gone", _without_sts(truth, generation, gen)
    collected = truth
    for generation, gen in enumerate(truth.children.gens):
        if gen.sts is not None and gen.sts.owner != living:
            collected = _without_sts(collected, generation, collected.children.gens[generation])
        kept = collected.children.gens[generation]
        kept = kept._replace(
            config_map=kept.config_map if kept.config_map == living else 0,
            headless=kept.headless if kept.headless == living else 0,
        )
        collected = collected._replace(children=with_gen(collected.children, generation, kept))
    service = collected.children.service
    if service is not None and service.owner != living:
        collected = collected._replace(children=collected.children._replace(service=None))
    if collected != truth:
        yield "orphans are collected", collected


def _without_sts(truth: Truth, generation: int, gen: Gen) -> Truth:
    children = with_gen(truth.children, generation, gen._replace(sts=None))
    return truth._replace(children=children, pods=with_pods(truth.pods, generation, Pods()))


def _time(state: State) -> Iterator[Ending]:
    engine = state.truth.engine
    if engine is not None and engine.status.draining is not None and not state.is_settled:
        yield Ending("the settle time passes", state._replace(is_settled=True))


def _watches(state: State) -> Iterator[Ending]:
    """Each kind of object is told of by its own watch, and each may lag."""
    seen, truth = state.seen, state.truth
    for part in ("engine", "children"):
        if getattr(seen, part) != getattr(truth, part):
            told = seen._replace(**{part: getattr(truth, part)})
            yield Ending(f"the watch tells of {part}", state._replace(seen=told))


def calm(state: State) -> State:
    """A fair schedule: every gate opens, every pod gets ready and idle, every watch tells, all time passes."""
    truth = state.truth._replace(gates=Gates())
    for generation in range(GENERATIONS):
        gen = truth.children.gens[generation]
        if gen.sts is not None and gen.sts.is_deleting:
            truth = _without_sts(truth, generation, gen)
        elif gen.sts is not None and not gen.sts.spec.is_stopped:
            truth = _with(truth, generation, Pods(exist=True, are_ready=True, are_busy=False))
    for name, later in (*_garbage(truth),):
        if name == "orphans are collected":
            truth = later
    return state._replace(truth=truth, seen=truth, is_settled=True)
