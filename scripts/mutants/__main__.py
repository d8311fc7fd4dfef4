"""`make mutants`: plants every fault, tells who survived, and compares with docs/dev/mutants.md."""

import argparse
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

import pytest

from scripts.mutants.choosing import sample, task_of
from scripts.mutants.modules import REPOSITORY, deciding, name_of, test_folders
from scripts.mutants.mutations import mutants_of
from scripts.mutants.planting import SURVIVED, Nursery, Task, at_first, become_cold_mutant
from scripts.mutants.pool import exit_codes
from scripts.mutants.report import Outcome, Progress, tell
from scripts.mutants.tests_of import Traced, trace

QUIET = [
    "-o",
    "addopts=--import-mode=importlib",
    "-x",
    "-p",
    "no:terminal",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-p",
    "no:warnings",
]
HEAVY_IMPORTS = ("aiohttp", "hypothesis", "lupa", "msgspec", "prometheus_client", "pytest_asyncio", "yaml")


def main() -> int:
    options = _options()
    began_at = time.monotonic()
    os.chdir(REPOSITORY)
    os.environ["FIREBOLT_CI"] = "yes"  # properties try the same examples each time
    mutants = [(path, mutant) for path in deciding(options.only) for mutant in mutants_of(path.read_text())]
    chosen = mutants if options.all else sample(mutants, options.sample, options.seed)
    print(f"{len(chosen)} of {len(mutants)} mutants, {options.processes} at a time; tracing the tests", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        traced = trace(frozenset(str(path) for path, _ in chosen), [*QUIET, *test_folders()], Path(folder))
    print(f"{len(traced.seconds)} tests traced after {time.monotonic() - began_at:.0f} s", flush=True)
    tasks = [task_of(path, mutant, traced) for path, mutant in chosen]
    survivors = _survivors(tasks, traced, options.processes)
    code = tell([Outcome(name_of(task.path), task.mutant, task in survivors) for task in tasks])
    print(f"{time.monotonic() - began_at:.0f} s")
    return code


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="modules whose path has this, or one of these (a,b), in it")
    parser.add_argument("--all", action="store_true", help="every mutant, not a sample")
    parser.add_argument("--sample", type=int, default=1000, metavar="N", help="so many mutants (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample: another one, another sample")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _survivors(tasks: list[Task], traced: Traced, processes: int) -> set[Task]:
    for name in HEAVY_IMPORTS:
        importlib.import_module(name)
    survived_warm = _in_a_fork_of_its_own([task for task in tasks if not task.is_cold], processes)

    cold = [task for task in tasks if task.tests and (task.is_cold or task in survived_warm)]
    unsure = _cold_survivors("nearest", {task: at_first(task) for task in cold}, traced, processes)
    survived = _cold_survivors("cold", {task: task for task in cold if task in unsure}, traced, processes)
    return {task for task in tasks if not task.tests or task in survived}


def _cold_survivors(stage: str, attempts: dict[Task, Task], traced: Traced, processes: int) -> set[Task]:
    progress = Progress(stage, len(attempts))

    def become(task: Task) -> NoReturn:
        become_cold_mutant(attempts[task], traced.seconds, QUIET)

    def tell_progress(task: Task, code: int) -> None:
        progress.ended(str(task), survived=code == SURVIVED)

    codes = exit_codes(attempts, become, processes, tell_progress)
    return {task for task, code in codes.items() if code == SURVIVED}


def _in_a_fork_of_its_own(tasks: list[Task], processes: int) -> set[Task]:
    """It imports and collects everything; this process stays cold."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        plant = WarmPlant(tasks, processes)
        pytest.main([*QUIET, *test_folders()], plugins=[plant])
        with os.fdopen(writer, "w") as answer:
            answer.write(" ".join(map(str, plant.survivors)))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        numbers = [int(word) for word in answer.read().split()]
    os.waitpid(pid, 0)
    return {tasks[number] for number in numbers}


class WarmPlant:
    """A plugin of pytest: instead of running the tests, it plants mutants and runs the tests of each."""

    def __init__(self, tasks: list[Task], processes: int) -> None:
        self.tasks, self.processes, self.survivors = tasks, processes, list[int]()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        nursery, progress = Nursery(session), Progress("warm", len(self.tasks))

        def become(number: int) -> NoReturn:
            nursery.become_mutant(self.tasks[number])

        def tell_progress(number: int, code: int) -> None:
            progress.ended(str(self.tasks[number]), survived=code == SURVIVED)

        codes = exit_codes(range(len(self.tasks)), become, self.processes, tell_progress)
        self.survivors = [number for number, code in codes.items() if code == SURVIVED]
        return True


if __name__ == "__main__":
    sys.exit(main())
