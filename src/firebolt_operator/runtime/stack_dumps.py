"""What is this process doing right now? On SIGUSR1 it writes to its log where every task and every thread stands.

A thread of its own waits for the signal, so that a loop that hangs is dumped like any other. Only places are told:
file, line and function, because the values of variables may be secrets.
"""

import asyncio
import logging
import signal
import sys
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

SIGNAL: Final = signal.SIGUSR1
MOST_STACKS: Final = 50  # different ones, of tasks and of threads each
MOST_FRAMES: Final = 30
MOST_NAMES: Final = 5  # of those that stand at the same place

log = logging.getLogger(__name__)

Stack = tuple[str, ...]


@contextmanager
def dumping_stacks(loop: asyncio.AbstractEventLoop) -> Generator[None]:
    """Until the block ends; begun in the main thread, before any other thread is."""
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {SIGNAL})
    over = threading.Event()
    thread = threading.Thread(target=_dump_on_signal, args=(loop, over), name="stack dumps", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        if thread.ident is not None:
            signal.pthread_kill(thread.ident, SIGNAL)
        thread.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _dump_on_signal(loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
    while True:
        signal.sigwait({SIGNAL})
        if over.is_set():
            return
        try:
            dump_stacks(loop)
        except Exception:
            log.exception("stacks not dumped")


def dump_stacks(loop: asyncio.AbstractEventLoop) -> None:
    tasks = [(task.get_name(), awaited_stack(task.get_coro())) for task in asyncio.all_tasks(loop)]
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    threads = [
        (names.get(ident, str(ident)), frame_stack(frame))
        for ident, frame in sys._current_frames().items()  # noqa: SLF001 - the only way to the stacks of others
        if ident != threading.get_ident()
    ]
    log.info("stacks", extra={"tasks": len(tasks), "threads": len(threads)})
    _tell("thread", threads)
    _tell("task", tasks)


def _tell(what: str, stacks: Iterable[tuple[str, Stack]]) -> None:
    """Those at the same place as one: a hundred idle workers are one line."""
    by_place: dict[Stack, list[str]] = {}
    for name, stack in stacks:
        by_place.setdefault(stack, []).append(name)
    most = sorted(by_place.items(), key=lambda each: -len(each[1]))
    for stack, names in most[:MOST_STACKS]:
        fields = {"names": sorted(names)[:MOST_NAMES], "count": len(names), "stack": stack}
        log.info("stack of a %s", what, extra=fields)
    if len(most) > MOST_STACKS:
        log.info("more stacks", extra={"of": what, "places": len(most) - MOST_STACKS})


def frame_stack(frame: FrameType | None) -> Stack:
    """Innermost last, as tracebacks are."""
    places = list[str]()
    while frame is not None and len(places) < MOST_FRAMES:
        places.append(_place(frame))
        frame = frame.f_back
    return tuple(reversed(places))


def awaited_stack(awaited: Any) -> Stack:
    """From a task's coroutine down to what it waits for; a task that runs is shown by its thread."""
    places = list[str]()
    while awaited is not None and len(places) < MOST_FRAMES:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is not None:
            places.append(_place(frame))
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
    return tuple(places)


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"
