"""How many nodes does a start ask for, and how may a stopped engine come up again?"""

import json
from datetime import UTC, datetime, timedelta

import pytest

from firebolt_operator.refs import Manifest
from kubectl_firebolt.auto_stop import LAST_APPLIED, after_stop, nodes_to_start
from kubectl_firebolt.durations import parse_duration
from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.restart import restart_patch
from tests.support.plugin import an_engine

PARKING = {"enabled": True, "activeReplicas": 3}


def applied(text: str) -> Manifest:
    engine = an_engine(spec={"replicas": 0})
    engine["metadata"]["annotations"] = {LAST_APPLIED: text}
    return engine


@pytest.mark.parametrize(
    ("engine", "engine_class", "nodes"),
    [
        pytest.param(an_engine(spec={"autoStop": PARKING}), None, 3, id="its-own-auto-stop"),
        pytest.param(an_engine(), {"spec": {"autoStop": PARKING}}, 3, id="its-class's"),
        pytest.param(
            an_engine(spec={"autoStop": PARKING | {"enabled": False}}), {"spec": {"autoStop": PARKING}}, None, id="off"
        ),
        pytest.param(applied(json.dumps({"spec": {"replicas": 2}})), None, 2, id="as-last-applied"),
        pytest.param(applied(json.dumps({"spec": {"replicas": 0}})), None, None, id="applied-without-nodes"),
        pytest.param(applied("{"), None, None, id="unreadable"),
        pytest.param(applied("[]"), None, None, id="no-object"),
        pytest.param(an_engine(), None, None, id="nobody-said"),
    ],
)
def test_nodes_to_start(engine: Manifest, engine_class: Manifest | None, nodes: int | None) -> None:
    assert nodes_to_start(engine, engine_class) == nodes


@pytest.mark.parametrize(
    ("nodes", "flag"),
    [
        pytest.param(2, "", id="as-last-applied"),
        pytest.param(3, " --replicas 3", id="scaled-since"),
    ],
)
def test_what_nobody_could_tell_afterwards_is_told_with_the_stop(nodes: int, flag: str) -> None:
    engine = applied(json.dumps({"spec": {"replicas": 2}}))
    engine["spec"]["replicas"] = nodes
    assert after_stop(engine, None).endswith(f"kubectl firebolt engine start e1{flag}")


def test_what_starts_a_stopped_engine_again() -> None:
    assert after_stop(an_engine(spec={"replicas": 0}), None).endswith("kubectl firebolt engine start e1")
    parked = an_engine(spec={"autoStop": PARKING})
    assert after_stop(parked, None) == "auto-stop is on: the next query through the gateway starts it again"
    scheduled = an_engine(spec={"autoStop": PARKING | {"schedule": [{"start": "08:00", "end": "18:00"}]}})
    assert after_stop(scheduled, None).endswith("and so does its schedule")


def test_a_restart_changes_one_note() -> None:
    note = {"kubectl.kubernetes.io/restartedAt": "2026-05-01T12:00:00Z"}
    patch = restart_patch(datetime(2026, 5, 1, 12, tzinfo=UTC))
    assert patch == {"spec": {"template": {"metadata": {"annotations": note}}}}


@pytest.mark.parametrize(("text", "seconds"), [("5m", 300), ("180s", 180), ("1h30m", 5400), ("1.5s", 1.5), ("0s", 0)])
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration("--timeout", text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5", "5x", "m", "-5m", "1d", "5m ", "5" * 50 + "s"])
def test_no_durations(text: str) -> None:
    with pytest.raises(PluginError, match=r"^--timeout: .* is not a duration; write it like"):
        parse_duration("--timeout", text)
