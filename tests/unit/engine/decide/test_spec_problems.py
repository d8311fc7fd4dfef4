"""Mistakes in an engine's settings: each names its field, whose it is, and what holds until it is mended."""

import pytest

from firebolt_operator.api.kstatus import Stalled
from firebolt_operator.engine.decide.spec_problems import spec_problems
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import engine_class, engine_spec

NO_BOUNDS, FEW = ResourceBounds(), ResourceBounds(replicas=3)
FORM = "write it like 30s or 1h30m"
UNPARKED = "until then the engine is woken, but neither parked nor scheduled"
OF_CLASS = '(inherited from FireboltEngineClass "shared"; mend it there, or set it on this engine)'


def auto_stop(**fields: object) -> Manifest:
    return {"autoStop": {"enabled": True, "activeReplicas": 1} | fields}


@pytest.mark.parametrize(
    ("bad", "field", "text", "meanwhile"),
    [
        (auto_stop(idleTimeout="30 minutes"), "autoStop.idleTimeout", "30 minutes", UNPARKED),
        (auto_stop(pollInterval="1d", enabled=False), "autoStop.pollInterval", "1d", UNPARKED),
        ({"drainCheckInterval": "5"}, "drainCheckInterval", "5", "until then 5s holds"),
        ({"drainTimeout": ""}, "drainTimeout", "", "until then a drain waits without a limit"),
        ({"progressDeadline": "soon"}, "progressDeadline", "soon", "until then 30m holds"),
    ],
)
def test_a_malformed_duration_names_its_field_and_its_class(
    bad: Manifest, field: str, text: str, meanwhile: str
) -> None:
    problem = f'"{text}" is not a duration; {FORM}'
    own = spec_problems(engine_spec(**bad), None, NO_BOUNDS)
    assert own == Stalled("SpecInvalid", f"spec.{field}: {problem}; {meanwhile}")
    inherited = spec_problems(engine_spec(), engine_class(**bad), NO_BOUNDS)
    assert inherited == Stalled("SpecInvalid", f"spec.engineClassRef.{field}: {problem} {OF_CLASS}; {meanwhile}")


@pytest.mark.parametrize(
    ("own", "of_class"),
    [
        ({}, {}),
        ({"drainTimeout": "1h"}, {"drainTimeout": "soon"}),
        ({"progressDeadline": "0"}, {"progressDeadline": "soon"}),
        ({"drainCheckInterval": "1ms"}, {"drainCheckInterval": "soon"}),
        (auto_stop(), auto_stop(idleTimeout="soon")),
    ],
)
def test_what_an_engine_does_not_inherit_does_not_concern_it(own: Manifest, of_class: Manifest) -> None:
    assert spec_problems(engine_spec(**own), engine_class(**of_class), FEW) is None


def test_a_malformed_budget_names_its_field_and_its_class() -> None:
    bad: Manifest = {"podDisruptionBudget": {"maxUnavailable": "half"}}
    form = 'Invalid value: "half": must be a number of pods, such as 1, or a share of them, such as "25%"'
    kept = "until then the budget stays as it is"
    own = spec_problems(engine_spec(**bad), engine_class(**bad), NO_BOUNDS)
    assert own == Stalled("SpecInvalid", f"spec.podDisruptionBudget.maxUnavailable: {form}; {kept}")
    inherited = spec_problems(engine_spec(), engine_class(**bad), NO_BOUNDS)
    path = "spec.engineClassRef.podDisruptionBudget.maxUnavailable"
    assert inherited == Stalled("SpecInvalid", f"{path}: {form} {OF_CLASS}; {kept}")
    assert spec_problems(engine_spec(podDisruptionBudget={}), engine_class(**bad), NO_BOUNDS) is None


def test_all_mistakes_are_told_at_once() -> None:
    of_class = engine_class(**auto_stop(idleTimeout="y", pollInterval="z", activeReplicas=5))
    found = spec_problems(engine_spec(drainTimeout="x", replicas=4), of_class, FEW)
    assert found is not None
    parts = ("drainTimeout", "idleTimeout", "pollInterval", "spec.replicas", "activeReplicas")
    assert [part for part in parts if part not in found.message] == []
    two = spec_problems(engine_spec(drainTimeout="x", drainCheckInterval="y"), None, FEW)
    assert two == Stalled(
        "SpecInvalid",
        f'spec.drainCheckInterval: "y" is not a duration; {FORM}; until then 5s holds;'
        f' spec.drainTimeout: "x" is not a duration; {FORM}; until then a drain waits without a limit',
    )


EXCEEDS = "exceeds operator-configured maximum 3"


@pytest.mark.parametrize(
    ("own", "of_class", "message"),
    [
        pytest.param(
            {"replicas": 4},
            {},
            f"spec.replicas: Invalid value: 4: {EXCEEDS}; until then nothing is rendered, and what runs goes on",
            id="replicas",
        ),
        pytest.param(
            auto_stop(activeReplicas=4),
            auto_stop(activeReplicas=5),
            f"spec.autoStop.activeReplicas: Invalid value: 4: {EXCEEDS}; until then 3 holds",
            id="active",
        ),
        pytest.param(
            auto_stop(activeReplicas=3, idleReplicas=4),
            {},
            f"spec.autoStop.idleReplicas: Invalid value: 4: {EXCEEDS}; until then 3 holds",
            id="idle",
        ),
        pytest.param(
            {},
            auto_stop(activeReplicas=2_147_483_647),
            f"spec.engineClassRef.autoStop.activeReplicas: Invalid value: 2147483647: {EXCEEDS} {OF_CLASS};"
            " until then 3 holds",
            id="inherited",
        ),
    ],
)
def test_too_many_nodes_name_their_field_and_the_limit(own: Manifest, of_class: Manifest, message: str) -> None:
    assert spec_problems(engine_spec(**own), engine_class(**of_class), FEW) == Stalled("SpecInvalid", message)


def test_as_many_nodes_as_the_limit_are_fine() -> None:
    spec = engine_spec(replicas=3, **auto_stop(activeReplicas=3, idleReplicas=3))
    assert spec_problems(spec, None, FEW) is None
    most = engine_spec(replicas=1000, **auto_stop(activeReplicas=1000))
    assert spec_problems(most, None, NO_BOUNDS) is None
    assert spec_problems(engine_spec(replicas=1001), None, NO_BOUNDS) is not None
