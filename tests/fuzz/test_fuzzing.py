"""Does the fuzzer find what it is there for? Faults are planted, and it must see each of them."""

import json
import random
import re
from dataclasses import replace
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest

from firebolt_operator.api import conditions, serialise
from firebolt_operator.engine import views
from firebolt_operator.engine.decide import warnings as statefulset_warnings
from firebolt_operator.engine.render import volumes
from firebolt_operator.kube import translate
from firebolt_operator.manifests import managed_fields
from tests.fuzz.all_targets import TARGETS
from tests.fuzz.fuzzing import Report, fuzz, measure_growth
from tests.fuzz.mutation import composed, texts
from tests.fuzz.target import Target, text_shape
from tests.support.growth import STEEPEST

NO_LIMIT = 10**9
WORDS = ("30s", "1h30m", "soon")


def a_target(**fields: object) -> Target:
    return Target(**({"name": "planted", "make": texts(WORDS), "read": len} | fields))  # type: ignore[arg-type]


def test_an_exception_that_is_not_ours_is_a_failure_and_names_its_input() -> None:
    def read(text: str) -> int:
        if "\x00" in text:
            raise KeyError(text)
        return len(text)

    report = fuzz(a_target(read=read), 5_000, seed=1)
    assert report.failures
    assert all("\x00" in failure.given for failure in report.failures)
    assert "KeyError" in str(report.failures[0])


def test_a_refusal_is_an_outcome_and_no_failure() -> None:
    report = fuzz(a_target(read=int, refusals=(ValueError,)), 500, seed=1)
    assert (report.failures, report.inputs) == ([], 500)
    assert len(report.outcomes) > 100


def test_a_seed_repeats_a_run_and_another_one_does_not() -> None:
    make = composed(lambda rng: str(rng.random()))
    first, again, other = ([make(rng) for _ in range(50)] for rng in map(random.Random, (1, 1, 2)))
    assert first == again != other


def test_old_findings_come_first() -> None:
    seen = list[str]()
    fuzz(a_target(read=seen.append, findings=["once"]), 3, seed=1)
    assert (seen[0], len(seen)) == ("once", 4)


@pytest.mark.parametrize(("answer", "is_one_sided"), [(True, True), (False, True), (None, False)])
def test_inputs_that_are_all_taken_or_all_refused_are_a_defect(answer: bool | None, is_one_sided: bool) -> None:
    def read(text: str) -> bool:
        return "s" in text if answer is None else answer

    assert fuzz(a_target(read=read), 300, seed=1).is_one_sided is is_one_sided


def short_digits(size: int) -> str:
    return "0" * (size // 10)  # a square of the whole would take minutes


def as_it_comes(value: Any) -> Any:
    return value


def in_utc_or_not_at_all(instant: datetime) -> datetime:
    return instant.astimezone(UTC)


def test_a_square_shows_in_the_growth_and_a_line_does_not() -> None:
    # Each start of a run of digits is tried to its end.
    search = re.compile(r"(?:[0-9]+)x").search
    square, line = Report("square"), Report("line")
    measure_growth(a_target(read=search, shapes=[short_digits]), square)
    measure_growth(a_target(read=len, shapes=[text_shape("0")]), line)
    assert square.growth is not None
    assert line.growth is not None
    assert line.growth < STEEPEST < square.growth


def test_what_a_long_input_raises_is_a_failure_too() -> None:
    report = Report("planted")
    measure_growth(a_target(read=int, refusals=(), shapes=[text_shape("9", end="")]), report)
    assert isinstance(report.failures[0].error, ValueError)


PLANTED = [
    pytest.param("generation labels", views, "MOST_CHARACTERS", NO_LIMIT, id="no-limit-for-a-number"),
    pytest.param("events of others", conditions, "MOST_MESSAGE", NO_LIMIT, id="no-limit-for-a-message"),
    pytest.param("events of others", statefulset_warnings, "is_reason", bool, id="any-word-is-a-reason"),
    pytest.param("error answers", translate, "WORDS_LIMIT", NO_LIMIT, id="no-limit-for-foreign-words"),
    pytest.param("statuses and auto-stop", serialise, "_in_utc", in_utc_or_not_at_all, id="the-first-day-of-all"),
    pytest.param("engines, rendered", volumes, "text", as_it_comes, id="a-name-that-is-no-text"),
    pytest.param("managed fields", managed_fields, "decoded", json.loads, id="a-key-that-is-no-JSON"),
]


@pytest.mark.parametrize(("name", "module", "attribute", "fault"), PLANTED)
def test_a_check_that_is_gone_from_the_product_is_missed(
    name: str, module: ModuleType, attribute: str, fault: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the inputs on which it failed once: they would be found again in any case."""
    target = replace(next(each for each in TARGETS if each.name == name), findings=())
    monkeypatch.setattr(module, attribute, fault)
    report = fuzz(target, 5_000, seed=1)
    if not report.failures:
        measure_growth(target, report)
    assert report.failures
