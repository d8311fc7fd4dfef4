"""Many forks, a few at a time."""

import os
import signal
import time
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from typing import NoReturn, TypeVar

Task = TypeVar("Task", bound=Hashable)
WALL_SECONDS = 300
"""Of one mutant: what waits for ever is found. Generous, since the machine may be busy."""
_LOOK_EVERY_SECONDS = 0.005


def exit_codes(
    tasks: Iterable[Task],
    become: Callable[[Task], NoReturn],
    processes: int,
    tell: Callable[[Task, int], None] = lambda _task, _code: None,
) -> dict[Task, int]:
    """`become` runs in a fork and never returns; `tell` hears of each that ended."""
    waiting, running, ended = list(reversed(list(tasks))), dict[int, tuple[Task, float]](), dict[Task, int]()
    while waiting or running:
        while waiting and len(running) < processes:
            task = waiting.pop()
            running[_fork(task, become)] = task, time.monotonic() + WALL_SECONDS
        for pid, (task, deadline) in list(running.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                ended[task] = os.waitstatus_to_exitcode(status)
                del running[pid]
                tell(task, ended[task])
            elif time.monotonic() > deadline:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
        time.sleep(_LOOK_EVERY_SECONDS)
    return ended


def _fork(task: Task, become: Callable[[Task], NoReturn]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            become(task)
        finally:
            os._exit(2)  # whatever breaks is noticed
    return pid
