"""Prometheus' own checker, as the test runs it."""

import subprocess
from functools import cache
from pathlib import Path

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.testing.prometheus_programs import provide_prometheus


@cache
def _program() -> Path | str:
    try:
        return provide_prometheus().promtool
    except LocalError as err:
        return str(err)


def promtool(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    program = _program()
    if isinstance(program, str):
        pytest.skip(program)
    return subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=240)
