"""Which unit tests run which lines, and how long do they take? Found by running them once, line by line."""

import json
import os
import sys
import threading
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Traced:
    """Tests by the lines that they run; the quickest first."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, list[int]]]  # by file, then by test

    def running(self, path: Path, wanted: tuple[int, int] | None) -> list[str]:
        """Without lines: everything that runs any line of the file."""
        tests = self.lines.get(str(path), {})
        first, last = wanted or (0, sys.maxsize)
        return self.quickest_first(
            test for test, lines in tests.items() if any(first <= line <= last for line in lines)
        )

    def quickest_first(self, tests: Iterable[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self.seconds[test], test))


@dataclass(slots=True)
class Tracer:
    """A plugin of pytest. Only frames of the wanted files are followed."""

    wanted: frozenset[str]
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict[str, dict[str, list[int]]])
    _seen: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._seen.clear()
        began_at = time.process_time()
        sys.settrace(self._enter)
        threading.settrace(self._enter)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            self.seconds[item.nodeid] = time.process_time() - began_at
            for path, line in self._seen:
                self.lines.setdefault(path, {}).setdefault(item.nodeid, []).append(line)

    def _enter(self, frame: FrameType, _event: str, _argument: object) -> Any:
        code: CodeType = frame.f_code
        if code.co_filename not in self.wanted:
            return None
        self._seen.add((code.co_filename, code.co_firstlineno))
        return self._step

    def _step(self, frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            self._seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._step


def trace(files: frozenset[str], arguments: list[str], folder: Path) -> Traced:
    """In a process of its own: whoever mutates wants to begin with nothing imported."""
    result, log = folder / "trace.json", folder / "tests.log"
    pid = os.fork()
    if pid == 0:
        with log.open("wb") as sink:
            os.dup2(sink.fileno(), 1)
        tracer = Tracer(files)
        status = pytest.main(arguments, plugins=[tracer])
        result.write_text(json.dumps({"seconds": tracer.seconds, "lines": tracer.lines}))
        os._exit(int(status))
    _, status = os.waitpid(pid, 0)
    if status:
        raise SystemExit(f"{log.read_text()}\nthe unit tests fail on the code as it is; mend that first")
    return Traced(**json.loads(result.read_text()))
