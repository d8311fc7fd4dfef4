"""What do signals mean to the process? The first asks it to stop, the second ends it; SIGUSR1 asks where it stands."""

import asyncio
import gc
import logging
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Final

import uvloop

from firebolt_operator.runtime.stack_dumps import dumping_stacks

STOP_SECONDS: Final = 9.5  # the pod has ten

log = logging.getLogger(__name__)


def run_process(main: Callable[[asyncio.Event], Awaitable[int]], *, stop_seconds: float = STOP_SECONDS) -> int:
    """Run until `main` ends; the event it gets is set by the first SIGTERM or SIGINT. Returns the exit code."""

    async def watched() -> int:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()

        def heard(number: signal.Signals) -> None:
            if stop.is_set():
                os._exit(1)
            log.info("stopping", extra={"signal": number.name})
            stop.set()
            loop.call_later(stop_seconds, overrun)

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, heard, number)
        return await main(stop)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, dumping_stacks(runner.get_loop()):
        return runner.run(watched())


def spare_the_collector() -> None:
    """All that was loaded and listed by now stays, and is most of what there is: nobody need look for garbage in it.

    Looking through it all held the loop for a tenth of a second, time and again while engines were made or rolled.
    """
    gc.collect()
    gc.freeze()


def overrun() -> None:
    """A component hangs: ending late would only mean being killed."""
    log.error("not stopped in time")
    os._exit(1)
