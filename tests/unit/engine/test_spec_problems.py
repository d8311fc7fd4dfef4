"""Mistakes in an engine's settings: each names its field, whose it is, and what holds until it is mended."""

import pytest

from firebolt_operator.api.kstatus import Stalled
from firebolt_operator.engine.spec_problems import spec_problems
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import engine_class, engine_spec

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
    own = spec_problems(engine_spec(**bad), None)
    assert own == Stalled("SpecInvalid", f"spec.{field}: {problem}; {meanwhile}")
    inherited = spec_problems(engine_spec(), engine_class(**bad))
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
    assert spec_problems(engine_spec(**own), engine_class(**of_class)) is None


def test_all_mistakes_are_told_at_once() -> None:
    found = spec_problems(engine_spec(drainTimeout="x"), engine_class(**auto_stop(idleTimeout="y", pollInterval="z")))
    assert found is not None
    assert [part in found.message for part in ("drainTimeout", "idleTimeout", "pollInterval")] == [True] * 3
