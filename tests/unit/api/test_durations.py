"""Which spans of time can be written, and how are they printed?"""

from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.api.durations import format_duration, parse_duration, parse_engine_duration

HOUR = timedelta(hours=1)
CENTURIES = timedelta(days=290 * 365)
DURATIONS = st.timedeltas(min_value=-CENTURIES, max_value=CENTURIES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0", timedelta(0), id="a-bare-zero"),
        pytest.param("-0", timedelta(0), id="a-bare-zero-with-a-sign"),
        pytest.param("30s", timedelta(seconds=30), id="seconds"),
        pytest.param("1h30m", timedelta(minutes=90), id="hours-and-minutes"),
        pytest.param("30m1h", timedelta(minutes=90), id="in-any-order"),
        pytest.param("1.5h", timedelta(minutes=90), id="a-fraction"),
        pytest.param(".5s", timedelta(milliseconds=500), id="a-fraction-without-a-whole"),
        pytest.param("1.s", timedelta(seconds=1), id="a-point-without-a-fraction"),
        pytest.param("-1m", timedelta(minutes=-1), id="negative"),
        pytest.param("+1m", timedelta(minutes=1), id="positive"),
        pytest.param("2ms", timedelta(milliseconds=2), id="milliseconds"),
        pytest.param("3us", timedelta(microseconds=3), id="microseconds"),
        pytest.param("3\u00b5s", timedelta(microseconds=3), id="microseconds-with-a-micro-sign"),
        pytest.param("3\u03bcs", timedelta(microseconds=3), id="microseconds-with-a-greek-letter"),
        pytest.param("5000ns", timedelta(microseconds=5), id="nanoseconds"),
        pytest.param("1ns", timedelta(microseconds=1), id="less-than-we-can-count-is-not-nothing"),
        pytest.param("-1ns", timedelta(microseconds=-1), id="less-than-we-can-count-keeps-its-sign"),
        pytest.param("0.1ns", timedelta(0), id="less-than-kubernetes-can-count-is-nothing"),
    ],
)
def test_kubernetes_durations(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "-", "5", "1d", "1hr", "h", ".s", "1h 30m", " 1h", "1h5", "--1h", "1h-5m", "1.2.3s", "\u0661s", "1\n", "00"],
)
def test_malformed_kubernetes_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration; write it like 30s or 1h30m"):
        parse_duration(text)


def test_a_text_too_long_to_be_a_duration_is_refused_and_not_repeated_at_length() -> None:
    with pytest.raises(ValueError, match="is not a duration") as refused:
        parse_duration("0" * 63 + "1s")
    assert str(refused.value).startswith(f'"{"0" * 63}1..." is not')


@pytest.mark.parametrize("text", ["2562048h", "-2562048h", "9" * 30 + "ns"])
def test_durations_that_kubernetes_cannot_count_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="longer than a duration can be"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30s", timedelta(seconds=30)),
        ("1h30m", timedelta(minutes=90)),
        ("1d", 24 * HOUR),
        ("7d", 168 * HOUR),
        ("0.5d", 12 * HOUR),
        ("1.5d", 36 * HOUR),
        ("-1d", -24 * HOUR),
        ("1d12h", 36 * HOUR),
        ("12h1d", 36 * HOUR),
        ("1d30m", timedelta(hours=24, minutes=30)),
        ("-1d12h", -36 * HOUR),
        ("+1d", 24 * HOUR),
        ("0", timedelta(0)),
    ],
)
def test_engine_durations(text: str, expected: timedelta) -> None:
    assert parse_engine_duration(text) == expected


@pytest.mark.parametrize("text", ["", "5", "1hr", "1d1hr", "d", "1.2.3d", ".d", "1D"])
def test_malformed_engine_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration; write it like 30s, 1h30m or 1d"):
        parse_engine_duration(text)


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        (timedelta(0), "0s"),
        (timedelta(days=1), "24h0m0s"),
        (timedelta(minutes=90), "1h30m0s"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(seconds=1.5), "1.5s"),
        (timedelta(milliseconds=20), "20ms"),
        (timedelta(microseconds=1500), "1.5ms"),
        (timedelta(microseconds=7), "7\u00b5s"),
        (timedelta(hours=-1, seconds=-2), "-1h0m2s"),
        (timedelta(minutes=1, milliseconds=1), "1m0.001s"),
    ],
)
def test_durations_are_printed_as_kubernetes_prints_them(duration: timedelta, expected: str) -> None:
    assert format_duration(duration) == expected


@given(DURATIONS)
def test_what_is_printed_can_be_read_again(duration: timedelta) -> None:
    text = format_duration(duration)
    assert (parse_duration(text), parse_engine_duration(text)) == (duration, duration)


@given(st.text(alphabet="0123456789.+-nuµms hd", max_size=12))
def test_any_text_is_a_duration_or_refused(text: str) -> None:
    with suppress(ValueError):
        duration = parse_duration(text)
        assert parse_duration(format_duration(duration)) == duration
