"""How does a process come to run a mutant?

Warm: everything is imported and collected, and the functions that differ get the mutant's code. Takes milliseconds, but
what was computed at import stays as it was. Cold: nothing of ours is imported yet, and the module is compiled from the
mutant when somebody imports it.
"""

import gc
import os
import resource
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import NoReturn

import pytest

from scripts.mutants.mutations import planted

FOUND, SURVIVED = 1, 0
CPU_SECONDS = 60
"""Of one mutant: what loops for ever is found."""


def mutated_code(path: Path, number: int) -> CodeType:
    return compile(planted(path.read_text(), number), str(path), "exec")


def become_warm_mutant(session: pytest.Session, path: Path, number: int, tests: Sequence[str]) -> NoReturn:
    """In a fork of a process that has collected the tests. Does not return."""
    _make_quiet()
    session.config.pluginmanager.register(EndAtFirstFailure())
    swap_functions(path, mutated_code(path, number))
    by_name = {item.nodeid: item for item in session.items}
    items = [by_name[name] for name in tests]
    for item, next_item in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
    os._exit(SURVIVED)


def become_cold_mutant(path: Path, number: int, arguments: Sequence[str]) -> NoReturn:
    """In a fork of a process that has imported nothing of ours. Does not return."""
    _make_quiet()
    code, as_it_is = mutated_code(path, number), SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        return code if Path(loader.path) == path else as_it_is(loader, name)

    setattr(SourceFileLoader, "get_code", get_code)  # noqa: B010 - a method, for type checkers
    os._exit(FOUND if pytest.main(list(arguments)) else SURVIVED)


class EndAtFirstFailure:
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os._exit(FOUND)


def _make_quiet() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    os.setsid()


def swap_functions(path: Path, module: CodeType) -> None:
    wanted = {(code.co_qualname, code.co_firstlineno): code for code in _functions_in(module)}
    for function in [each for each in gc.get_objects() if isinstance(each, FunctionType)]:
        now = function.__code__
        new = wanted.get((now.co_qualname, now.co_firstlineno)) if now.co_filename == str(path) else None
        if new is not None and new != now and len(new.co_freevars) == len(now.co_freevars):
            function.__code__ = new


def _functions_in(code: CodeType) -> list[CodeType]:
    direct = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [*direct, *(inner for each in direct for inner in _functions_in(each))]
