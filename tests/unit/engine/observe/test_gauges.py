import math

import pytest

from firebolt_operator.engine.answers import Activity
from firebolt_operator.engine.observe.gauges import gauge, idle_seconds, parse_activity


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        pytest.param("firebolt_running_queries 0", "firebolt_running_queries", 0, id="plain"),
        pytest.param("with_timestamp 7 1720000000000", "with_timestamp", 7, id="a-timestamp-follows"),
        pytest.param("float_value 3.9", "float_value", 3, id="cut-to-a-whole-number"),
        pytest.param('x{kind="y"} 5', "x", 5, id="labelled"),
        pytest.param('x{kind="y"}5', "x", 5, id="labelled-and-close"),
        pytest.param('x{kind="y"} 5\nx{kind="z",} 2 17\n', "x", 7, id="labelled-series-are-summed"),
        pytest.param('x{kind="}\\" 9"} 5', "x", 5, id="braces-and-quotes-inside-a-label"),
        pytest.param('x{kind="y} 5', "x", None, id="a-label-that-never-ends"),
        pytest.param('x{kind="y"} 0\nx{kind="z"} NaN', "x", None, id="one-of-them-not-a-number"),
        pytest.param('x{kind="y"} 5\nx{kind="z"} -5', "x", None, id="less-than-nothing-hides-nobody"),
        pytest.param("x 5\r\n", "x", 5, id="lines-of-another-system"),
        pytest.param("x 0" + "0" * 100, "x", None, id="a-number-longer-than-any"),
        pytest.param("x\n5", "x", None, id="the-value-stands-on-the-same-line"),
        pytest.param("x_total 5", "x", None, id="a-longer-name-is-another"),
        pytest.param("# x 5\n\nx 6", "x", 6, id="comments-and-blanks-are-passed-over"),
        pytest.param("x NaN", "x", None, id="not-a-number"),
        pytest.param("x +Inf", "x", None, id="not-finite"),
        pytest.param("x many", "x", None, id="not-even-that"),
        pytest.param("x 1\nx 2", "x", 3, id="told-twice-counts-twice"),
    ],
)
def test_gauge(text: str, name: str, expected: int | None) -> None:
    assert gauge(text, name) == expected


def test_activity_is_both_gauges() -> None:
    busy = parse_activity("firebolt_running_queries 1\nfirebolt_suspended_queries 2\n")
    idle = parse_activity("firebolt_running_queries 0\nfirebolt_suspended_queries 0\n")
    assert (busy, busy.is_idle, idle.is_idle) == (Activity(1, 2), False, True)


def test_silence_is_not_idleness() -> None:
    with pytest.raises(ValueError, match="lacks firebolt_suspended_queries"):
        parse_activity("firebolt_running_queries 0\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", None, id="an-older-image"),
        pytest.param("firebolt_auto_stop_idle_seconds 12.5", 12.5, id="told"),
        pytest.param(
            'firebolt_auto_stop_idle_seconds{a="1"} 9\nfirebolt_auto_stop_idle_seconds{a="2"} 3', 3.0, id="the-shortest"
        ),
    ],
)
def test_idle_seconds(text: str, expected: float | None) -> None:
    assert idle_seconds(text) == expected


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "1e300", "soon"])
def test_an_idle_time_that_cannot_be_is_nonsense(value: str) -> None:
    told = idle_seconds(f'firebolt_auto_stop_idle_seconds{{a="1"}} {value}\nfirebolt_auto_stop_idle_seconds 5')
    assert told is not None
    assert math.isnan(told)


def test_nonsense_about_idleness_does_not_keep_a_generation_from_being_drained() -> None:
    text = "firebolt_running_queries 0\nfirebolt_suspended_queries 0\nfirebolt_auto_stop_idle_seconds NaN\n"
    assert parse_activity(text).is_idle
