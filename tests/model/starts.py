"""Where searches begin: an engine that was edited once, somewhere on its way through that rollout."""

from functools import cache

from tests.model.actions import calm
from tests.model.passes import Passes
from tests.model.world import Drain, May, Spec, State, initial

QUIET = May(gates_flip=False)
DEFAULT = Drain()


@cache
def rolling(phase: str, drain: Drain = DEFAULT, *, has_budget: bool = False) -> State:
    """In this phase of it, with nothing more to happen but what a test allows for."""
    passes, state = Passes(), initial(drain, QUIET)._replace(edits_left=0, births_left=0)
    assert state.truth.engine is not None
    truth = state.truth._replace(engine=state.truth.engine._replace(has_budget=has_budget))
    state = state._replace(truth=truth, seen=truth)
    try:
        for _ in range(50):
            state = passes.whole(calm(state))
            engine = state.truth.engine
            assert engine is not None
            if engine.spec.version and engine.status.phase == phase:
                return state
            if engine.status.phase == "stable" and engine.status.observed == 1 and not engine.spec.version:
                edited = engine._replace(spec=Spec(1, is_stopped=False))
                truth = state.truth._replace(engine=edited)
                state = state._replace(truth=truth, seen=truth)
    finally:
        passes.close()
    raise AssertionError(f"never {phase}")
