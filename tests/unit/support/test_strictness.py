"""Is a test that hangs a failure everywhere, and one that is skipped a failure in CI?"""

import os
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

from tests.support.strictness import CI_VARIABLE

REPOSITORY = Path(__file__).parents[3]
SKIPPING = """
import pytest
@pytest.fixture
def rights():
    pytest.skip("needs root")
def test_runs(): pass
def test_by_fixture(rights): pass
@pytest.mark.skipif(True, reason="needs a kernel")
def test_by_mark(): pass
@pytest.mark.xfail(reason="known")
def test_expected(): assert False
"""
SKIPPING_AS_A_WHOLE = "import pytest\npytest.skip('needs a node', allow_module_level=True)\n"
HANGING = """
import asyncio, threading
async def test_waits_for_ever(): await asyncio.Event().wait()
def test_locks_itself_out(): threading.Event().wait()
def test_runs(): pass
"""


def run_pytest(*arguments: str, before: str = "", **variables: str) -> "subprocess.CompletedProcess[str]":
    """With the settings of this repository, in a process of its own."""
    program = f"import os, sys, pytest\n{before}\nsys.exit(pytest.main(sys.argv[1:]))"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "FIREBOLT"))}
    environment = {**inherited, "PYTHONPATH": f"{REPOSITORY / 'src'}:{REPOSITORY}", **variables}
    command = [sys.executable, "-c", program, "-q", "-p", "no:cacheprovider", "-c", str(REPOSITORY / "pyproject.toml")]
    return subprocess.run(
        [*command, *arguments], env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False
    )


def a_file(folder: Path, text: str, name: str = "test_sample.py") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


class TestSkips:
    @pytest.fixture
    def arguments(self, tmp_path: Path) -> list[str]:
        whole = a_file(tmp_path, SKIPPING_AS_A_WHOLE, "test_whole.py")
        return ["-p", "tests.support.strictness", "--continue-on-collection-errors", a_file(tmp_path, SKIPPING), whole]

    def test_at_a_desk_they_are_skips(self, arguments: list[str]) -> None:
        done = run_pytest(*arguments)
        assert done.returncode == 0, done.stdout
        assert "1 passed, 3 skipped, 1 xfailed" in done.stdout

    def test_in_ci_they_are_failures_with_their_reasons(self, arguments: list[str]) -> None:
        done = run_pytest(*arguments, **{CI_VARIABLE: "yes"})
        assert done.returncode == 1, done.stdout
        assert "1 passed, 1 xfailed, 3 errors" in done.stdout
        assert f"skipped, which counts as failed when {CI_VARIABLE} is set: Skipped: needs root" in done.stdout
        assert "needs a kernel" in done.stdout
        assert "needs a node" in done.stdout

    def test_in_ci_end_to_end_tests_without_root_fail(self) -> None:
        """The real ones, by somebody who is not root."""
        somebody = "os.geteuid = lambda: 1000"
        done = run_pytest("tests/e2e/test_queries.py", "-m", "quick", before=somebody, **{CI_VARIABLE: "yes"})
        assert done.returncode == 1, done.stdout
        assert "a cluster that runs containers needs root" in done.stdout
        assert "passed" not in done.stdout

    def test_ci_asks_for_it_in_everything_that_it_runs(self, tmp_path: Path) -> None:
        make = tmp_path / "make"
        make.write_text(f'#!/bin/sh\necho "$*" with "${CI_VARIABLE}"\n')
        make.chmod(0o755)
        path = f"{tmp_path}:{os.environ['PATH']}"
        done = subprocess.run(
            [REPOSITORY / ".ci/run"], env={"PATH": path}, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        assert {"test with yes", "test-model with yes", "e2e-quick with yes"} <= set(done)


class TestHangs:
    def test_they_fail_and_the_others_go_on(self, tmp_path: Path) -> None:
        done = run_pytest("-o", "timeout=1", a_file(tmp_path, HANGING))
        assert "2 failed, 1 passed" in done.stdout
        assert done.stdout.count("Timeout (>1.0s)") >= 2

    def test_every_test_has_a_limit(self, pytestconfig: pytest.Config) -> None:
        assert 0 < float(str(pytestconfig.getini("timeout"))) <= 600

    def test_no_example_of_a_property_has_one(self) -> None:
        """Hypothesis would fail whatever takes 200 ms: on a busy machine, anything."""
        assert hypothesis.settings().deadline is None
