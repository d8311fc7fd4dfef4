"""What can happen around the operator: pods, gates, garbage collection, time, watches; people are in people.py."""

from collections.abc import Iterator

from tests.model.children import child_names, copied, real_child
from tests.model.passes import Ending
from tests.model.people import people
from tests.model.world import (
    GENERATIONS,
    JUST_SWITCHED,
    REPLICAS,
    SETTLED,
    STRANGER,
    TIMED_OUT,
    Gates,
    Gen,
    Pods,
    State,
    Truth,
    asked,
    with_gen,
    with_pods,
)


def happenings(state: State) -> Iterator[Ending]:
    for name, truth in (*_pods(state), *_gates(state)):
        # Told at once: a pod or a gate that is told of later is the same as one that changes later.
        seen = state.seen._replace(pods=truth.pods, gates=truth.gates)
        yield Ending(name, state._replace(truth=truth, seen=seen))
    for name, truth in _garbage(state.truth):
        yield Ending(name, state._replace(truth=truth, seen=state.seen._replace(pods=truth.pods)))
    yield from _answers(state)
    yield from people(state)
    yield from _time(state)
    yield from _watches(state)


def _pods(state: State) -> Iterator[tuple[str, Truth]]:
    truth, engine = state.truth, state.truth.engine
    for generation in range(GENERATIONS):
        sts, pods = truth.children.gens[generation].sts, truth.pods[generation]
        if sts is None or sts.owner == STRANGER or sts.is_deleting or sts.spec.is_stopped:
            continue
        for total, ready in _steps(pods, 1 if state.may.pods_come_singly else REPLICAS):
            name = f"g{generation} has {ready} of {total} pods ready"
            yield name, _with(truth, generation, pods._replace(total=total, ready=ready))
        if engine is None or engine.status.draining != generation or not pods.total:
            continue
        # Once no resolver knows it, no query comes any more; those that run end.
        if pods.are_busy or state.elapsed == JUST_SWITCHED:
            busy = pods._replace(are_busy=not pods.are_busy)
            yield f"g{generation} busy={busy.are_busy}", _with(truth, generation, busy)


def _steps(pods: Pods, step: int) -> Iterator[tuple[int, int]]:
    """Pods come, get ready and lose it again, all of them at once or each by itself."""
    if pods.total < REPLICAS:
        yield pods.total + step, pods.ready
    if pods.ready < pods.total:
        yield pods.total, pods.ready + step
    if pods.ready:
        yield pods.total, pods.ready - step


def _with(truth: Truth, generation: int, pods: Pods) -> Truth:
    return truth._replace(pods=with_pods(truth.pods, generation, pods))


def _gates(state: State) -> Iterator[tuple[str, Truth]]:
    truth, gates = state.truth, state.truth.gates
    if state.may.gates_flip:
        yield "instance flips", truth._replace(gates=gates._replace(instance=not gates.instance))
        yield "class flips", truth._replace(gates=gates._replace(engine_class=not gates.engine_class))
    if state.may.scrapes_fail:
        yield "scrapes flip", truth._replace(gates=gates._replace(scrape=not gates.scrape))


def _garbage(truth: Truth) -> Iterator[tuple[str, Truth]]:
    """Foreground deletions end; what an engine of another uid owned is collected. Nobody collects a stranger's."""
    kept = {0, STRANGER, truth.engine.uid if truth.engine else 0}
    for generation, gen in enumerate(truth.children.gens):
        if gen.sts is not None and gen.sts.is_deleting:
            yield f"g{generation} is gone", _without_sts(truth, generation, gen)
    collected = truth
    for generation, gen in enumerate(truth.children.gens):
        if gen.sts is not None and gen.sts.owner not in kept:
            collected = _without_sts(collected, generation, collected.children.gens[generation])
        left = collected.children.gens[generation]
        left = left._replace(
            config_map=left.config_map if left.config_map in kept else 0,
            headless=left.headless if left.headless in kept else 0,
        )
        collected = collected._replace(children=with_gen(collected.children, generation, left))
    service = collected.children.service
    if service is not None and service.owner not in kept:
        collected = collected._replace(children=collected.children._replace(service=None))
    budget = collected.children.budget
    if budget is not None and budget.owner not in kept:
        collected = collected._replace(children=collected.children._replace(budget=None))
    if collected != truth:
        yield "orphans are collected", collected


def _without_sts(truth: Truth, generation: int, gen: Gen) -> Truth:
    children = with_gen(truth.children, generation, gen._replace(sts=None))
    return truth._replace(children=children, pods=with_pods(truth.pods, generation, Pods()))


def _time(state: State) -> Iterator[Ending]:
    engine = state.truth.engine
    if engine is None or engine.status.draining is None:
        return
    if state.elapsed < (TIMED_OUT if engine.drain.has_timeout else SETTLED):
        yield Ending("time passes", state._replace(elapsed=state.elapsed + 1))


def _answers(state: State) -> Iterator[Ending]:
    """At any time, whether or not somebody wants to know: what is known may always be older than it seems."""
    engine = state.truth.engine
    if engine is None or engine.status.draining is None or engine.status.phase != "draining":
        return
    is_early = state.elapsed == JUST_SWITCHED
    if is_early and not state.may.answers_come_early:
        return
    after = asked(state, engine.status.draining)
    if after != state:
        yield Ending(f"g{engine.status.draining} answers", after)


def _watches(state: State) -> Iterator[Ending]:
    """Each object is told of by itself, and each may lag."""
    seen, truth = state.seen, state.truth
    if seen.engine != truth.engine:
        yield Ending("the watch tells of the engine", state._replace(seen=seen._replace(engine=truth.engine)))
    if seen.children == truth.children:
        return
    for name in child_names():
        if real_child(seen.children, name) is not real_child(truth.children, name):
            told = seen._replace(children=copied(seen.children, truth.children, name))
            yield Ending(f"the watch tells of {name}", state._replace(seen=told))


def calm(state: State) -> State:
    """A fair schedule: gates open, pods get ready and idle, watches tell, time passes, strangers let our names go."""
    truth = state.truth._replace(gates=Gates())
    for generation in range(GENERATIONS):
        gen = truth.children.gens[generation]
        if gen.sts is not None and gen.sts.is_deleting:
            truth = _without_sts(truth, generation, gen)
        elif gen.sts is not None and gen.sts.owner != STRANGER and not gen.sts.spec.is_stopped:
            truth = _with(truth, generation, Pods(total=REPLICAS, ready=REPLICAS))
    for name, later in (*_garbage(truth),):
        if name == "orphans are collected":
            truth = later
    service = truth.children.service
    if service is not None and service.owner == STRANGER:
        truth = truth._replace(children=truth.children._replace(service=None))
    budget = truth.children.budget
    if budget is not None and budget.owner == STRANGER:
        truth = truth._replace(children=truth.children._replace(budget=None))
    return state._replace(truth=truth, seen=truth, elapsed=TIMED_OUT)
