"""What does one request through the door cost? Server-side applies of a 1.5 KB ConfigMap, many in flight.

    python bench/door.py --kubeconfig ~/.kube/config
    KUBEBUILDER_ASSETS=... python bench/door.py      # starts a control plane of its own

Prints requests per second and CPU milliseconds per request of this process alone, then the same for a page of a list.
"""

import argparse
import asyncio
import os
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

from firebolt_local.cluster.control_plane import ControlPlane, Options
from firebolt_local.programs import provision
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref, Resource

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
NAMESPACE = "default"
LABEL = "bench-door"
PAGE_ITEMS = 500


@dataclass(frozen=True, slots=True)
class Cost:
    count: int
    wall_seconds: float
    cpu_seconds: float

    def __str__(self) -> str:
        rate, cpu = self.count / self.wall_seconds, 1000 * self.cpu_seconds / self.count
        return f"{rate:8.0f} /s  {cpu:6.3f} ms CPU each  ({self.count} in {self.wall_seconds:.1f} s)"


async def measured(count: int, in_flight: int, once: Callable[[int], Awaitable[object]]) -> Cost:
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await once(number)

    wall, cpu = time.perf_counter(), cpu_seconds()
    async with asyncio.TaskGroup() as group:
        for index in range(in_flight):
            group.create_task(worker(), name=f"worker-{index}")
    return Cost(count, time.perf_counter() - wall, cpu_seconds() - cpu)


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def config_map(name: str, note: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app": LABEL}},
        "data": {"config.yaml": "x" * 1300, "note": note},
    }


async def longest_pause(work: Awaitable[object]) -> float:
    """The longest time in seconds during which the event loop served nobody else."""
    worst = 0.0
    is_done = False

    async def watch_the_clock() -> None:
        nonlocal worst
        while not is_done:
            before = time.perf_counter()
            await asyncio.sleep(0)
            worst = max(worst, time.perf_counter() - before)

    async with asyncio.TaskGroup() as group:
        group.create_task(watch_the_clock(), name="clock")
        await work
        is_done = True
    return worst


async def run(kubeconfig: str, count: int, in_flight: int) -> None:
    async with KubeClient.from_credentials(load_credentials(kubeconfig, os.environ)) as client:
        names = [f"{LABEL}-{number}" for number in range(PAGE_ITEMS)]
        scope = Scope(resource=CONFIG_MAPS, namespace=NAMESPACE, labels=f"app={LABEL}")
        try:
            await measured(PAGE_ITEMS, in_flight, lambda number: client.apply(config_map(names[number], "first")))
            rounds = await measured(
                count, in_flight, lambda number: client.apply(config_map(names[number % PAGE_ITEMS], str(number)))
            )
            print(f"apply 1.5 KB, {in_flight} in flight: {rounds}")
            print(f"list of {PAGE_ITEMS} as manifests:   {await measured(20, 1, lambda _: client.list(scope))}")
            print(f"longest pause of the loop while listing: {1000 * await longest_pause(client.list(scope)):.1f} ms")
        finally:
            for found in await client.list(scope):
                ref = Ref(CONFIG_MAPS, NAMESPACE, found["metadata"]["name"])
                await client.delete(ref, uid=found["metadata"]["uid"])


@contextmanager
def own_control_plane() -> Generator[str]:
    with tempfile.TemporaryDirectory() as folder:
        options = Options(folder=Path(folder), controllers=(), scheduler=False, benchmark_limits=True)
        plane = ControlPlane(options, provision.provide(provision.CONTROL_PLANE)).start()
        try:
            yield str(plane.kubeconfig)
        finally:
            plane.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", default="", help="cluster to measure against; default: start one")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--in-flight", type=int, default=16)
    parser.add_argument("--loop", choices=("uvloop", "asyncio"), default="uvloop")
    arguments = parser.parse_args()
    start = uvloop.run if arguments.loop == "uvloop" else asyncio.run
    if arguments.kubeconfig:
        start(run(arguments.kubeconfig, arguments.count, arguments.in_flight))
        return 0
    with own_control_plane() as kubeconfig:
        start(run(kubeconfig, arguments.count, arguments.in_flight))
    return 0


if __name__ == "__main__":
    sys.exit(main())
