"""Class-inherited settings: the engine's own value, else the class's, else the operator's."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.engine_settings import (
    AutoStop,
    DisruptionBudget,
    EmptyDirStorage,
    PersistentVolumeClaimStorage,
    Storage,
)
from firebolt_operator.api.names import Rollout
from firebolt_operator.engine.inherited_settings import (
    effective_auto_stop,
    effective_disruption_budget,
    effective_drain_check_enabled,
    effective_drain_interval,
    effective_drain_timeout,
    effective_progress_deadline,
    effective_rollout,
    effective_storage,
    effective_ui_sidecar,
    idle_timeout,
    poll_interval,
)
from firebolt_operator.engine.inputs import ClassInfo
from tests.support.engine_inputs import engine_class, engine_spec

Resolver = Callable[[EngineSpec, ClassInfo | None], Any]
SECONDS = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("resolve", "field", "own", "inherited", "default"),
    [
        (effective_ui_sidecar, "uiSidecar", False, True, False),
        (effective_drain_check_enabled, "drainCheckEnabled", True, False, True),
        (effective_rollout, "rollout", Rollout.GRACEFUL, Rollout.RECREATE, Rollout.GRACEFUL),
    ],
)
def test_given_a_setting_then_engine_beats_class_beats_default(
    resolve: Resolver, field: str, own: object, inherited: object, default: object
) -> None:
    of_class = engine_class(**{field: inherited})
    assert resolve(engine_spec(**{field: own}), of_class) == own
    assert resolve(engine_spec(), of_class) == inherited
    assert resolve(engine_spec(), engine_class()) == default
    assert resolve(engine_spec(), None) == default


@pytest.mark.parametrize(
    ("resolve", "field", "default"),
    [
        (effective_drain_interval, "drainCheckInterval", 5 * SECONDS),
        (effective_drain_timeout, "drainTimeout", None),
    ],
)
class TestDuration:
    def test_then_engine_beats_class_beats_default(
        self, resolve: Resolver, field: str, default: timedelta | None
    ) -> None:
        of_class = engine_class(**{field: "7s"})
        assert resolve(engine_spec(**{field: "1m30s"}), of_class) == 90 * SECONDS
        assert resolve(engine_spec(), of_class) == 7 * SECONDS
        assert resolve(engine_spec(), None) == default

    @pytest.mark.parametrize("text", ["0", "0s", "-5s", "", "5", "1d", "soon"])
    def test_then_zero_and_what_is_no_duration_mean_the_default(
        self, resolve: Resolver, field: str, default: timedelta | None, text: str
    ) -> None:
        assert resolve(engine_spec(**{field: text}), engine_class(**{field: "7s"})) == default
        assert resolve(engine_spec(), engine_class(**{field: text})) == default


@pytest.mark.parametrize(
    ("own", "inherited", "expected"),
    [
        pytest.param("10m", "1h", timedelta(minutes=10), id="engine-beats-class"),
        pytest.param(None, "1h", timedelta(hours=1), id="class-beats-default"),
        pytest.param(None, None, timedelta(minutes=30), id="default"),
        pytest.param("0", "1h", None, id="zero-is-no-limit"),
        pytest.param(None, "0s", None, id="zero-of-the-class-is-no-limit"),
        pytest.param("-1m", None, None, id="less-than-zero-is-no-limit"),
        pytest.param("soon", "1h", timedelta(minutes=30), id="malformed-is-the-default"),
    ],
)
def test_progress_deadline(own: str | None, inherited: str | None, expected: timedelta | None) -> None:
    of_class = engine_class(**({} if inherited is None else {"progressDeadline": inherited}))
    spec = engine_spec(**({} if own is None else {"progressDeadline": own}))
    assert effective_progress_deadline(spec, of_class) == expected


@pytest.mark.parametrize("text", ["1ns", "20ms", "1s"])
def test_given_hardly_any_interval_then_there_is_a_pause_all_the_same(text: str) -> None:
    assert effective_drain_interval(engine_spec(drainCheckInterval=text), None) == SECONDS
    assert poll_interval(AutoStop(active_replicas=1, poll_interval=text)) == SECONDS


def test_given_storage_then_a_backend_is_taken_whole() -> None:
    of_class = engine_class(storage={"persistentVolumeClaim": {"size": "8Gi", "storageClassName": "fast"}})
    own = engine_spec(storage={"persistentVolumeClaim": {"size": "2Gi"}})
    assert effective_storage(own, of_class) == Storage(persistent_volume_claim=PersistentVolumeClaimStorage(size="2Gi"))
    assert effective_storage(engine_spec(storage={}), of_class) == of_class.spec.storage
    assert effective_storage(engine_spec(storage={"emptyDir": {}}), of_class) == Storage(empty_dir=EmptyDirStorage())
    assert effective_storage(engine_spec(), engine_class()) == Storage(empty_dir=EmptyDirStorage())


def test_given_auto_stop_then_it_is_taken_whole() -> None:
    of_class = engine_class(autoStop={"enabled": True, "activeReplicas": 3, "idleTimeout": "10m"})
    own = effective_auto_stop(engine_spec(autoStop={"activeReplicas": 1}), of_class)
    assert own is not None
    assert (own.enabled, own.active_replicas, own.idle_timeout) == (False, 1, "30m")
    assert effective_auto_stop(engine_spec(), of_class) == of_class.spec.auto_stop
    assert effective_auto_stop(engine_spec(), None) is None


def test_given_a_disruption_budget_then_it_is_taken_whole_and_an_empty_one_is_none() -> None:
    of_class = engine_class(podDisruptionBudget={"maxUnavailable": "25%"})
    own = effective_disruption_budget(engine_spec(podDisruptionBudget={"maxUnavailable": 1}), of_class)
    assert own == DisruptionBudget(max_unavailable=1)
    assert effective_disruption_budget(engine_spec(podDisruptionBudget={}), of_class) == DisruptionBudget()
    assert effective_disruption_budget(engine_spec(), of_class) == DisruptionBudget(max_unavailable="25%")
    assert effective_disruption_budget(engine_spec(), engine_class()) is None
    assert effective_disruption_budget(engine_spec(), None) is None


@pytest.mark.parametrize(
    ("resolve", "field", "default"),
    [
        (idle_timeout, "idle_timeout", timedelta(minutes=30)),
        (poll_interval, "poll_interval", timedelta(minutes=1)),
    ],
)
@pytest.mark.parametrize("text", ["0s", "-1m", "1 day", "30 minutes", ""])
def test_given_auto_stop_durations_then_only_positive_ones_count(
    resolve: Callable[[AutoStop], timedelta], field: str, default: timedelta, text: str
) -> None:
    def policy(value: str) -> AutoStop:
        return AutoStop(**{"active_replicas": 1, field: value})  # type: ignore[arg-type]

    assert resolve(policy("2m")) == timedelta(minutes=2)
    assert resolve(policy(text)) == default
