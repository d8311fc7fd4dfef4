"""Whatever a tenant, a client or a neighbour writes is read, or refused in our own words. `make fuzz` tries more."""

import random
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.fuzz.all_targets import TARGETS
from tests.fuzz.fuzzing import fuzz
from tests.fuzz.target import Target

FOR_EACH = pytest.mark.parametrize("target", [pytest.param(each, id=each.name) for each in TARGETS])
INPUTS = 300


@pytest.fixture(autouse=True)
def _unlogged(caplog: pytest.LogCaptureFixture) -> None:
    """Objects that cannot be read are logged, each of them."""
    caplog.set_level("CRITICAL", logger="firebolt_operator")


@FOR_EACH
def test_nothing_is_raised_that_is_not_ours(target: Target) -> None:
    report = fuzz(target, INPUTS, seed=1)
    assert not report.failures, "\n".join(map(str, report.failures))
    assert 0 < report.accepted < report.inputs
    assert len(report.outcomes) > 1


@FOR_EACH
@settings(max_examples=20)
@given(drawn=st.randoms(use_true_random=False))
def test_other_inputs_every_time(target: Target, drawn: random.Random) -> None:
    given_to_it: Any = target.make(drawn)
    note(repr(given_to_it))
    try:
        target.read(given_to_it)
    except target.refusals:
        return


FINDINGS = [
    pytest.param(each, found, id=f"{each.name}-{index}")
    for each in TARGETS
    for index, found in enumerate(each.findings)
]


@pytest.mark.parametrize(("target", "found"), FINDINGS)
def test_what_was_found_once_is_found_no_more(target: Target, found: Any) -> None:
    try:
        target.read(found)
    except target.refusals:
        return
