"""What fails a test besides its assertions: a hang, and in CI a skip. What does not: an example that takes its time.

A plugin of pytest, loaded by `tests/conftest.py`.
"""

import os
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

CI_VARIABLE = "FIREBOLT_CI"
"""Set by `.ci/run`: there a test that was skipped is a test that failed."""
LONG_TEST_SECONDS = 3600
"""Hang guard of the tests that take minutes by design; all others have the limit in pyproject.toml."""
END_TO_END = Path(__file__).parents[1] / "e2e"
Report = TypeVar("Report", bound="pytest.TestReport | pytest.CollectReport")


def is_ci() -> bool:
    return bool(os.environ.get(CI_VARIABLE))


# On a busy machine an example may take its time: no clock decides a result. People's runs draw new examples each time;
# CI tries the same ones for the same code, so that a change is red only for what it did itself.
settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True, derandomize=is_ci()
)
settings.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        takes_long = item.get_closest_marker("slow") or item.path.is_relative_to(END_TO_END)
        if takes_long and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG_TEST_SECONDS))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _without_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Modules can skip themselves as a whole, before any test of theirs exists."""
    return _without_skip((yield))


def _without_skip(report: Report) -> Report:
    # An expected failure is reported as skipped as well; it did run.
    if is_ci() and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which counts as failed when {CI_VARIABLE} is set: {_reason(report)}"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Pytest keeps a skip as file, line and reason."""
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
