"""Class-inherited settings: the engine's own value, else the class's, else the operator's."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.engine_settings import EmptyDirStorage, PersistentVolumeClaimStorage, Storage
from firebolt_operator.api.names import Rollout
from firebolt_operator.engine.effective import (
    effective_auto_stop,
    effective_drain_check_enabled,
    effective_drain_interval,
    effective_drain_timeout,
    effective_idle_timeout,
    effective_poll_interval,
    effective_rollout,
    effective_storage,
    effective_ui_sidecar,
)
from firebolt_operator.engine.inputs import ClassInfo
from firebolt_operator.errors import SpecRejectedError
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

    @pytest.mark.parametrize("text", ["0", "0s", "-5s"])
    def test_then_zero_and_less_mean_the_default(
        self, resolve: Resolver, field: str, default: timedelta | None, text: str
    ) -> None:
        assert resolve(engine_spec(**{field: text}), engine_class(**{field: "7s"})) == default

    @pytest.mark.parametrize("text", ["", "5", "1d", "soon"])
    def test_then_a_malformed_value_is_rejected_where_it_was_written(
        self, resolve: Resolver, field: str, default: timedelta | None, text: str
    ) -> None:
        del default
        with pytest.raises(SpecRejectedError) as own:
            resolve(engine_spec(**{field: text}), None)
        with pytest.raises(SpecRejectedError) as inherited:
            resolve(engine_spec(), engine_class(**{field: text}))
        assert (own.value.field, inherited.value.field) == (f"spec.{field}", f"spec.engineClassRef.{field}")


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


@pytest.mark.parametrize(
    ("resolve", "field", "default"),
    [
        (effective_idle_timeout, "idleTimeout", timedelta(minutes=30)),
        (effective_poll_interval, "pollInterval", timedelta(minutes=1)),
    ],
)
def test_given_auto_stop_durations_then_only_positive_ones_count(
    resolve: Resolver, field: str, default: timedelta
) -> None:
    def with_value(text: str) -> Any:
        return {"autoStop": {"enabled": True, "activeReplicas": 1, field: text}}

    assert resolve(engine_spec(**with_value("2m")), None) == timedelta(minutes=2)
    assert resolve(engine_spec(), engine_class(**with_value("3m"))) == timedelta(minutes=3)
    assert resolve(engine_spec(**with_value("0s")), None) == default
    assert resolve(engine_spec(), None) == default
    with pytest.raises(SpecRejectedError, match=rf"^spec\.autoStop\.{field}: "):
        resolve(engine_spec(**with_value("1 day")), None)
    with pytest.raises(SpecRejectedError, match=rf"^spec\.engineClassRef\.autoStop\.{field}: "):
        resolve(engine_spec(), engine_class(**with_value("1 day")))
