"""What does an engine at rest cost? A pass that is run, one that is recognised, and a resting minute of many.

    python bench/rest.py [--engines 500]

In memory, with the real reconciler, controller, queue and metrics: nothing of it depends on an API server, because a
resting engine asks none. The ratio is taken within one run, so that a busy machine does not matter.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import uvloop
from prometheus_client import CollectorRegistry

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.support.report import Report  # noqa: E402 - found through the line above
from firebolt_operator.engine.lifecycle import EngineReconciler  # noqa: E402
from firebolt_operator.engine.observe.caches import engine_caches  # noqa: E402
from firebolt_operator.engine.observe.metrics import EngineMetrics  # noqa: E402
from firebolt_operator.observability.controller_metrics import ControllerMetrics, WorkQueueMetrics  # noqa: E402
from firebolt_operator.observability.metrics import Metrics  # noqa: E402
from firebolt_operator.runtime.clock import SystemClock  # noqa: E402
from firebolt_operator.runtime.controller import Controller, ControllerSettings, Outcome  # noqa: E402
from firebolt_operator.runtime.objects import Key  # noqa: E402
from firebolt_operator.runtime.resting import RestingPasses  # noqa: E402
from firebolt_operator.runtime.work_queue import Priority, WorkQueue  # noqa: E402
from tests.support.one_engine import OneEngine  # noqa: E402

ROUNDS = 5
PASSES_A_MINUTE = 2
FLEET = 5_000
MICRO = 1e6


async def measured(engines: list[OneEngine], run: Callable[[Key], Awaitable[Outcome]]) -> float:
    """CPU microseconds for each pass."""
    best = float("inf")
    for _ in range(ROUNDS):
        began_at = time.process_time()
        for engine in engines:
            await run(engine.key)
        best = min(best, time.process_time() - began_at)
    return best / len(engines) * MICRO


async def through_the_controller(engines: list[OneEngine], run: Callable[[Key], Awaitable[Outcome]]) -> float:
    """The same with all that is around a pass: queue, worker, deadline, log context and metrics."""
    clock, metrics = SystemClock(), Metrics()
    ended, left = asyncio.Event(), len(engines)

    async def counted(key: Key) -> Outcome:
        nonlocal left
        outcome = await run(key)
        left -= 1
        if not left:
            ended.set()
        return outcome

    queue: WorkQueue[Key] = WorkQueue(clock, WorkQueueMetrics(metrics).recorder("bench"), group_of=lambda key: key[0])
    settings = ControllerSettings[Key](
        name="bench", describe=lambda key: {"namespace": key[0], "name": key[1]}, pass_deadline=timedelta(minutes=2)
    )
    recorder = ControllerMetrics(metrics).recorder("bench", workers=settings.workers)
    controller = Controller(settings, counted, queue, recorder, clock)
    async with asyncio.TaskGroup() as group:
        group.create_task(controller.run(), name="controller")
        began_at = time.process_time()
        for engine in engines:
            queue.add(engine.key, Priority.RESYNC)
        await ended.wait()
        took = time.process_time() - began_at
        controller.close()
    return took / len(engines) * MICRO


async def run(count: int) -> None:
    caches, recorder, clock = engine_caches((), ""), EngineMetrics(CollectorRegistry()), SystemClock()
    engines = [OneEngine(f"e{number}", clock=clock, recorder=recorder, caches=caches) for number in range(count)]
    reconciler = EngineReconciler(engines[0].dependencies())
    passes = RestingPasses(reconciler.reconcile, reconciler.confirmed)
    for engine in engines:
        engine.api = engines[0].api
        await engine.come_to_rest(reconciler.reconcile)
        await passes.run(engine.key)
    whole, recognised = await measured(engines, reconciler.reconcile), await measured(engines, passes.run)
    before, after = (
        await through_the_controller(engines, reconciler.reconcile),
        await through_the_controller(engines, passes.run),
    )
    minute = after * FLEET * PASSES_A_MINUTE / MICRO
    report = Report()
    report.add("a pass at rest that is run", whole, 1_000, "us")
    report.add("a pass at rest that is recognised", recognised, 20, "us")
    report.add("recognised, of one that is run", recognised / whole, None)
    report.add("with the controller around it, run", before, 1_000, "us")
    report.add("with the controller around it, recognised", after, 100, "us")
    report.add(f"a resting minute of {FLEET} engines, CPU", minute, 1, "s")
    report.show()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=int, default=500)
    uvloop.run(run(parser.parse_args().engines))


if __name__ == "__main__":
    main()
