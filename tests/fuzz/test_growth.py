"""What a tenant can write is read in a time that grows with its length, and no faster."""

import pytest

from tests.fuzz.all_targets import TARGETS
from tests.fuzz.fuzzing import Report, measure_growth
from tests.fuzz.target import Target
from tests.support.growth import STEEPEST


@pytest.mark.parametrize("target", [pytest.param(each, id=each.name) for each in TARGETS])
def test_ten_times_the_length_takes_about_ten_times_as_long(target: Target, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="firebolt_operator")
    report = Report(target.name)
    measure_growth(target, report)
    assert not report.failures, str(report.failures[0])
    assert report.growth is not None
    assert report.growth < STEEPEST
