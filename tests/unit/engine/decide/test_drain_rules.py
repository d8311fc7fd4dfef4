"""How an engine drains: its own settings, else its class's, else the operator's."""

from datetime import timedelta

import pytest

from firebolt_operator.engine.decide.draining import DrainRules, effective_drain_rules
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import engine_class, engine_spec
from tests.support.engines import SECOND

SETTLE = timedelta(seconds=35)


def test_given_nothing_then_running_queries_are_waited_for_without_end() -> None:
    expected = DrainRules(is_skipped=False, interval=5 * SECOND, timeout=None, settle=SETTLE)
    assert effective_drain_rules(engine_spec(), None, SETTLE) == expected


def test_given_settings_of_both_then_the_engines_own_count_and_the_settle_is_the_operators() -> None:
    spec = engine_spec(drainCheckInterval="7s")
    of_class = engine_class(drainCheckInterval="9s", drainTimeout="2m")
    expected = DrainRules(is_skipped=False, interval=7 * SECOND, timeout=120 * SECOND, settle=0 * SECOND)
    assert effective_drain_rules(spec, of_class, 0 * SECOND) == expected


@pytest.mark.parametrize(
    ("own", "inherited", "is_skipped"),
    [
        pytest.param({"rollout": "graceful", "drainCheckEnabled": True}, {}, False, id="asked-for"),
        pytest.param({"drainCheckEnabled": False}, {}, True, id="check-is-off"),
        pytest.param({"rollout": "recreate"}, {}, True, id="nobody-waits-for-what-is-recreated"),
        pytest.param(
            {"rollout": "recreate", "drainCheckEnabled": True}, {}, True, id="recreated-whatever-else-is-said"
        ),
        pytest.param({}, {"drainCheckEnabled": False}, True, id="off-by-its-class"),
        pytest.param({"drainCheckEnabled": True}, {"drainCheckEnabled": False}, False, id="on-against-its-class"),
        pytest.param({"rollout": "graceful"}, {"rollout": "recreate"}, False, id="graceful-against-its-class"),
    ],
)
def test_who_is_not_waited_for(own: Manifest, inherited: Manifest, is_skipped: bool) -> None:
    rules = effective_drain_rules(engine_spec(**own), engine_class(**inherited), SETTLE)
    assert rules.is_skipped is is_skipped
