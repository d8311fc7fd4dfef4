"""How does a process come to run a mutant?

Warm: everything is imported and collected, and the functions that differ get the mutant's code. Takes milliseconds, but
what was computed at import stays as it was. Cold: nothing of ours is imported yet, and the module is compiled from the
mutant when somebody imports it.
"""

import gc
import math
import os
import resource
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import NoReturn

import pytest

from scripts.mutants.modules import name_of, test_folder_of
from scripts.mutants.mutations import Mutant, planted

FOUND, SURVIVED = 1, 0
LEAST_CPU_SECONDS = 10
"""Of one mutant, beside what its tests took when they were traced: what loops for ever is found."""


@dataclass(frozen=True, slots=True)
class Task:
    path: Path
    mutant: Mutant
    tests: tuple[str, ...]
    cpu_seconds: float  # of its tests, on the code as it is
    is_cold: bool  # what takes effect at import cannot be swapped later

    def __str__(self) -> str:
        return f"{name_of(self.path)}, {self.mutant}"


def mutated_code(path: Path, number: int) -> CodeType:
    return compile(planted(path.read_text(), number), str(path), "exec")


class Nursery:
    """A process that has collected the tests, to be forked from."""

    def __init__(self, session: pytest.Session) -> None:
        session.config.pluginmanager.register(EndAtFirstFailure())
        self._items = {item.nodeid: item for item in session.items}
        self._functions = functions_by_file()
        gc.collect()
        gc.freeze()  # a collection in a fork would touch, and so copy, everything

    def become_mutant(self, task: Task) -> NoReturn:
        """In a fork. Does not return."""
        _make_quiet(task.cpu_seconds)
        swap_functions(self._functions[str(task.path)], mutated_code(task.path, task.mutant.number))
        items = [self._items[name] for name in task.tests]
        for item, next_item in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
        os._exit(SURVIVED)


def become_cold_mutant(task: Task, known: Container[str], arguments: Sequence[str]) -> NoReturn:
    """In a fork of a process that has imported nothing of ours. Does not return."""
    _make_quiet(task.cpu_seconds)
    code, as_it_is = mutated_code(task.path, task.mutant.number), SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        return code if Path(loader.path) == task.path else as_it_is(loader, name)

    setattr(SourceFileLoader, "get_code", get_code)  # noqa: B010 - a method, for type checkers
    status = pytest.main([*arguments, *sorted(set(map(file_of, task.tests)))], plugins=[Chosen(task, known)])
    os._exit(SURVIVED if status in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED} else FOUND)


def at_first(task: Task) -> Task:
    """With the tests of its namesake or else of its room: that imports far less, and mostly finds the fault."""
    namesake, room = f"test_{task.path.stem}.py", test_folder_of(task.path)
    named = tuple(test for test in task.tests if Path(file_of(test)).name == namesake)
    near = named or tuple(test for test in task.tests if test.startswith(room))
    return replace(task, tests=near or task.tests)


def file_of(test: str) -> str:
    return test.partition("::")[0]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A plugin of pytest: the tests of a task, in its order, and any that exist only because of the fault.

    Parameters may come from what is mutated. That a test is gone is not noticed by anybody.
    """

    task: Task
    known: Container[str]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        rank = {name: number for number, name in enumerate(self.task.tests)}
        items[:] = [item for item in items if item.nodeid in rank or item.nodeid not in self.known]
        items.sort(key=lambda item: rank.get(item.nodeid, -1))


class EndAtFirstFailure:
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os._exit(FOUND)


def _make_quiet(cpu_seconds: float) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)
    limit = LEAST_CPU_SECONDS + math.ceil(cpu_seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    os.setsid()


def functions_by_file() -> dict[str, list[FunctionType]]:
    """All that exist in this process, wherever they are referred to."""
    found = defaultdict[str, list[FunctionType]](list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            found[each.__code__.co_filename].append(each)
    return found


def swap_functions(functions: Iterable[FunctionType], module: CodeType) -> None:
    wanted = {(code.co_qualname, code.co_firstlineno): code for code in _functions_in(module)}
    for function in functions:
        now = function.__code__
        new = wanted.get((now.co_qualname, now.co_firstlineno))
        if new is not None and new != now and len(new.co_freevars) == len(now.co_freevars):
            function.__code__ = new


def _functions_in(code: CodeType) -> list[CodeType]:
    direct = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [*direct, *(inner for each in direct for inner in _functions_in(each))]
