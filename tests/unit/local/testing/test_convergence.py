"""Is an engine at rest only when it has arrived where its newest edit wants it?"""

import pytest

from firebolt_local.testing.convergence import is_at_rest
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.refs import Manifest

RECONCILING = {
    "type": "Reconciling",
    "status": "True",
    "reason": "Rolling",
    "message": "",
    "lastTransitionTime": "2026-04-29T12:00:00Z",
}


def an_engine(*, phase: str = "stable", ready: int = 3, generation: int = 5, observed: int = 5) -> Manifest:
    status: Manifest = {
        "phase": phase,
        "readyReplicas": ready,
        "observedGeneration": observed,
        "currentGeneration": 1,
        "activeGeneration": 1,
    }
    spec = {"instanceRef": "demo", "replicas": 3}
    return {"metadata": {"name": "analytics", "generation": generation}, "spec": spec, "status": status}


def on_its_way() -> Manifest:
    engine = an_engine()
    return engine | {"status": engine["status"] | {"conditions": [RECONCILING]}}


@pytest.mark.parametrize(
    ("engine", "replicas", "expected"),
    [
        pytest.param(an_engine(), 3, True, id="arrived"),
        pytest.param(an_engine(observed=4), 3, False, id="the-operator-has-not-seen-the-edit"),
        pytest.param(an_engine(generation=4, observed=4), 3, False, id="the-watch-has-not-seen-the-edit"),
        pytest.param(an_engine(phase="draining"), 3, False, id="between-two-generations"),
        pytest.param(an_engine(ready=2), 3, False, id="a-pod-is-not-ready"),
        pytest.param(on_its_way(), 3, False, id="the-spec-may-have-moved-on"),
        pytest.param(an_engine(phase="stopped", ready=0), 0, True, id="parked"),
        pytest.param(an_engine(phase="stable", ready=0), 0, False, id="not-yet-parked"),
        pytest.param(an_engine(generation=6, observed=6), 3, True, id="edited-again-meanwhile"),
    ],
)
def test_rest(engine: Manifest, replicas: int, expected: bool) -> None:
    assert is_at_rest(replicas, since=5)(parse_engine(engine)) is expected
