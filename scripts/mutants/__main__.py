"""`make mutants`: plants every fault, tells who survived, and compares with docs/dev/mutants.md."""

import argparse
import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

from scripts.mutants.mutations import Mutant, mutants_of
from scripts.mutants.planting import SURVIVED, become_cold_mutant, become_warm_mutant
from scripts.mutants.pool import exit_codes
from scripts.mutants.report import Outcome, tell
from scripts.mutants.tests_of import Traced, trace

REPOSITORY = Path(__file__).parents[2]
SOURCES = REPOSITORY / "src/firebolt_operator"
DECIDING = (
    "policy/*.py",
    "gateway/*.py",
    "engineclass/decide.py",
    *(f"engine/{name}.py" for name in (
        "act", "applied_fields", "autostop", "comparison", "conditions", "deletion", "drain_rules", "draining", "drift",
        "effective", "gates", "hashes", "known_fields", "observe", "ownership", "parking", "phases", "plan", "schedule",
        "services", "statefulset", "statefulset_warnings", "sweep", "template", "template_merge", "volumes",
    )),
    *(f"instance/{name}.py" for name in (
        "act", "conditions", "decide", "deletion", "failed", "ownership", "postgres_step", "settled", "status", "steps",
        "upkeep",
    )),
    *(f"wake/{name}.py" for name in ("answers", "capacity", "holds", "slices", "stamping")),
)  # fmt: skip
TESTS = ("api", "components", "engine", "engineclass", "gateway", "instance", "policy", "wake")
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


@dataclass(frozen=True, slots=True)
class Task:
    path: Path
    mutant: Mutant
    tests: tuple[str, ...]


def main() -> int:
    options = _options()
    os.chdir(REPOSITORY)
    os.environ["FIREBOLT_CI"] = "yes"  # properties try the same examples each time
    paths = list(_deciding(options.only))
    folders = [f"tests/unit/{name}" for name in TESTS if Path(f"tests/unit/{name}").is_dir()]
    with tempfile.TemporaryDirectory() as folder:
        print(f"{len(paths)} modules; tracing their tests", flush=True)
        traced = trace(frozenset(map(str, paths)), [*QUIET, *folders], Path(folder))
    tasks = list(_tasks(paths, traced, options.every))
    print(f"{len(tasks)} mutants, {options.processes} at a time", flush=True)
    survivors = _survivors(tasks, folders, options.processes)
    return tell([Outcome(str(task.path.relative_to(SOURCES)), task.mutant, task in survivors) for task in tasks])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="modules whose path has this in it")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one mutant in N")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _deciding(only: str) -> Iterator[Path]:
    for pattern in DECIDING:
        found = sorted(SOURCES.glob(pattern))
        if not found:
            raise SystemExit(f"{pattern} names no module any more: mend the list in {__file__}")
        yield from (path for path in found if only in str(path))


def _tasks(paths: list[Path], traced: Traced, every: int) -> Iterator[Task]:
    for path in paths:
        for mutant in mutants_of(path.read_text())[::every]:
            tests = traced.running(path, mutant.lines) if mutant.function else _all_of_the_room(path, traced)
            yield Task(path, mutant, tuple(tests))


def _all_of_the_room(path: Path, traced: Traced) -> list[str]:
    """What is decided at import shows in whoever uses it, and that may be generated code, which no trace sees."""
    own = traced.running(path, None)
    room = f"tests/unit/{path.parent.name}/"
    return [*own, *sorted({test for test in traced.seconds if test.startswith(room)} - set(own))]


def _survivors(tasks: list[Task], folders: list[str], processes: int) -> set[Task]:
    for name in HEAVY_IMPORTS:
        importlib.import_module(name)
    noticed_by_somebody = [task for task in tasks if task.tests]
    warm = [task for task in noticed_by_somebody if task.mutant.function]
    survived_warm = _in_a_fork_of_its_own(warm, folders, processes)

    def become(task: Task) -> NoReturn:
        become_cold_mutant(task.path, task.mutant.number, [*QUIET, *task.tests])

    cold = [task for task in noticed_by_somebody if not task.mutant.function or task in survived_warm]
    codes = exit_codes(cold, become, processes)
    return {task for task in tasks if not task.tests or codes.get(task) == SURVIVED}


def _in_a_fork_of_its_own(tasks: list[Task], folders: list[str], processes: int) -> set[Task]:
    """It imports and collects everything; this process stays cold."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        plant = WarmPlant(tasks, processes)
        pytest.main([*QUIET, *folders], plugins=[plant])
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
        def become(number: int) -> NoReturn:
            task = self.tasks[number]
            become_warm_mutant(session, task.path, task.mutant.number, task.tests)

        codes = exit_codes(range(len(self.tasks)), become, self.processes)
        self.survivors = [number for number, code in codes.items() if code == SURVIVED]
        return True


if __name__ == "__main__":
    sys.exit(main())
