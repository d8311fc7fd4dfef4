"""What does the operator cost with many engines? Creates, rolls, rests and restarts them on simulated pods.

    python bench/engines.py                                     # 500 engines: about ten minutes
    python bench/engines.py --engines 50 --foreign 0 --rest 20  # a first impression
    python bench/engines.py --engines 100 --profile /tmp/operator.prof

In the same run a plain client makes and replaces the same objects and waits for the same pods: the floor that no
operator can beat on this machine. Requests are counted from the API server's audit log, CPU and memory of the
operator's process are read from /proc, and one outsider watches pods and Services to tell the time between them.
"""

import argparse
import asyncio
import math
import os
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import uvloop

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.support import cluster  # noqa: E402 - found through the line above
from bench.support.audit import AuditLog, Requests  # noqa: E402
from bench.support.fleet import INSTANCE, Fleet, PlainClient  # noqa: E402
from bench.support.machine import Machine, a_watched_machine  # noqa: E402
from bench.support.operator_process import USER, OperatorProcess, start_operator  # noqa: E402
from bench.support.outsider import Outsider, an_outsider  # noqa: E402
from bench.support.report import Report, percentile  # noqa: E402
from firebolt_local.cluster.control_plane import ControlPlane  # noqa: E402
from firebolt_local.testing.crds import install_crds  # noqa: E402
from firebolt_operator.kube.client import KubeClient  # noqa: E402
from firebolt_operator.kube.credentials import load_credentials  # noqa: E402

NAMESPACE = "bench"
FLOOR_NAMESPACE = "floor"
FOREIGN_NAMESPACE = "foreign"
TOGETHER = 50  # engines of the smaller rollout
CALM_SECONDS = 5.0
START_SECONDS = 20.0  # in which a restarted operator has long come to rest
AUDIT_SECONDS = 1.0  # until the last request is in the log


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    engines: int
    foreign: int
    rest_seconds: float
    profile: Path | None
    flags: tuple[str, ...]  # of the operator, besides those that the benchmark needs
    has_floor: bool


@dataclass(frozen=True, slots=True)
class Floor:
    """Seconds that the same takes without an operator."""

    create: float
    roll: float


NO_FLOOR = Floor(math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Span:
    """One measured stretch of the operator's life."""

    wall_seconds: float
    cpu_seconds: float
    requests: Requests


@dataclass(slots=True)
class Bench:
    sizes: Sizes
    plane: ControlPlane
    client: KubeClient
    machine: Machine
    report: Report = field(default_factory=Report)

    async def run(self) -> None:
        await install_crds(self.client)
        floor = await self._floor() if self.sizes.has_floor else NO_FLOOR
        await cluster.make_namespace(self.client, NAMESPACE)
        async with an_outsider(self.plane.kubeconfig_for("outsider"), NAMESPACE) as outsider:
            operator = start_operator(self.plane, self.sizes.flags, profile=self.sizes.profile)
            async with asyncio.TaskGroup() as group:
                guard = group.create_task(operator.until_dead(), name="guard")
                await cluster.make_instance(self.client, NAMESPACE, INSTANCE)
                await self._create(operator, outsider, floor.create)
                await self._roll(operator, outsider, floor.roll)
                await self._rest(operator)
                guard.cancel()
            operator.stop()
        if self.sizes.foreign:
            await self._restart_among_strangers()
        self.report.show()
        print(f"\n  CPU seconds are {self.machine.slowdown():.1f} times what they are on this machine when it is idle")

    async def _floor(self) -> Floor:
        count, cpu = self.sizes.engines, time.process_time()
        plain = PlainClient(self.client, FLOOR_NAMESPACE)
        await cluster.make_namespace(self.client, FLOOR_NAMESPACE)
        async with an_outsider(self.plane.kubeconfig_for("outsider"), FLOOR_NAMESPACE) as outsider:
            began_at = time.monotonic()
            await plain.create(count)
            create = await outsider.until_pods_ready(count, 0) - began_at
            create_cpu = time.process_time() - cpu
            began_at = time.monotonic()
            await plain.roll(count, outsider)
            roll = time.monotonic() - began_at
        say(f"floor: {count} created in {create:.1f} s ({create_cpu:.1f} CPU s), rolled in {roll:.1f} s")
        await cluster.remove_namespace(self.client, FLOOR_NAMESPACE)
        return Floor(create, roll)

    async def _create(self, operator: OperatorProcess, outsider: Outsider, floor: float) -> None:
        count, report = self.sizes.engines, self.report
        meter = Meter(self.plane, operator)
        await Fleet(self.client, NAMESPACE).create(count)
        span = await meter.read(await outsider.until_at_rest(count, 0))
        memory = operator.usage().peak_rss_mib
        say(f"created: {describe(span, count)}, {span.wall_seconds / floor:.2f} of the floor, peak {memory:.0f} MiB")
        report.add(f"{count} created to stable, of the floor", span.wall_seconds / floor, 1.6)
        report.add(f"{count} created to stable, CPU", span.cpu_seconds, 12 * count / 500, "s")
        report.add(f"{count} created to stable, memory", memory, 90, "MiB")
        report.add("requests for each creation", span.requests.total / count, 12)

    async def _roll(self, operator: OperatorProcess, outsider: Outsider, floor: float) -> None:
        count, report, fleet = self.sizes.engines, self.report, Fleet(self.client, NAMESPACE)
        few = min(TOGETHER, count)
        await fleet.roll(few, "engine:2")
        await outsider.until_at_rest(few, 1)
        first = await outsider.switch_delays(1)
        delays = sorted(first.values())
        say(f"{few} rolled: ready to switched {spread(delays)}")
        report.add(f"{few} rolled: last pod ready to switched, p99", percentile(delays, 0.99), 0.25, "s")
        # Those that were rolled just now get their third generation, the others their second.
        meter = Meter(self.plane, operator)
        await fleet.roll(count, "engine:3")
        await outsider.until_at_rest(few, 2)
        span = await meter.read(await outsider.until_at_rest(count, 1))
        second = await outsider.switch_delays(1) | await outsider.switch_delays(2)
        delays = sorted(second.values())
        say(f"rolled: {describe(span, count)}, {span.wall_seconds / floor:.2f} of the floor, switched {spread(delays)}")
        report.add(f"{count} rolled together", span.wall_seconds, 60, "s")
        report.add(f"{count} rolled together, CPU", span.cpu_seconds, 25 * count / 500, "s")
        report.add("requests for each rollout", span.requests.total / count, 18)
        report.add(f"{count} rolled: last pod ready to switched, p99", percentile(delays, 0.99), 2, "s")

    async def _rest(self, operator: OperatorProcess) -> None:
        await asyncio.sleep(CALM_SECONDS)
        meter = Meter(self.plane, operator)
        await asyncio.sleep(self.sizes.rest_seconds)
        span = await meter.read(time.monotonic())
        per_minute = 60 / span.wall_seconds
        total = (span.requests.total + span.requests.leases) * per_minute
        say(f"rest: {describe(span, 1)}, {span.requests.leases} for the lease; {operator.usage().rss_mib:.0f} MiB")
        self.report.add("a resting minute: mutating requests", span.requests.mutating * per_minute, 0)
        self.report.add("a resting minute: requests, lease included", total, 100)
        self.report.add("a resting minute: CPU", span.cpu_seconds * per_minute, 1, "s")

    async def _restart_among_strangers(self) -> None:
        count = self.sizes.foreign
        await cluster.make_namespace(self.client, FOREIGN_NAMESPACE)
        await cluster.make_foreign(self.client, FOREIGN_NAMESPACE, count)
        say(f"{count} foreign pods, Secrets and ConfigMaps made")
        operator = start_operator(self.plane, self.sizes.flags)
        meter = Meter(self.plane, operator, cpu_seconds=0.0)
        await asyncio.sleep(START_SECONDS)
        span = await meter.read(time.monotonic())
        usage = operator.usage()
        say(f"restarted: {describe(span, 1)}, {usage.rss_mib:.0f} MiB, peak {usage.peak_rss_mib:.0f} MiB")
        self.report.add(f"memory with {count} foreign objects of each kind", usage.peak_rss_mib, 110, "MiB")
        operator.stop()


class Meter:
    """What the operator uses from now on."""

    def __init__(self, plane: ControlPlane, operator: OperatorProcess, *, cpu_seconds: float | None = None) -> None:
        self._log = AuditLog(plane.audit_log, USER)
        self._operator = operator
        self._cpu_seconds = operator.usage().cpu_seconds if cpu_seconds is None else cpu_seconds
        self._began = datetime.fromtimestamp(time.time(), tz=UTC)
        self._began_at = time.monotonic()

    async def read(self, ended_at: float) -> Span:
        cpu_seconds = self._operator.usage().cpu_seconds - self._cpu_seconds
        ended = datetime.fromtimestamp(time.time(), tz=UTC)
        await asyncio.sleep(AUDIT_SECONDS)
        return Span(ended_at - self._began_at, cpu_seconds, self._log.requests(self._began, ended))


def describe(span: Span, share: int) -> str:
    requests = f"{span.requests.total / share:.2f} requests ({span.requests.mutating / share:.2f} mutating)"
    lines = "\n".join(span.requests.lines(share))
    return f"{span.wall_seconds:.1f} s, {span.cpu_seconds:.2f} CPU s, {requests}:\n{lines}\n   "


def spread(delays: list[float]) -> str:
    shares = ", ".join(f"p{share * 100:g} {percentile(delays, share):.3f} s" for share in (0.5, 0.9, 0.99))
    return f"{shares} ({len(delays)} engines)"


def say(text: str) -> None:
    load = os.getloadavg()[0]
    print(f"[load {load:5.1f}] {text}", flush=True)


async def run(sizes: Sizes, plane: ControlPlane) -> None:
    async with AsyncExitStack() as stack:
        credentials = load_credentials(str(plane.kubeconfig), {})
        client = await stack.enter_async_context(KubeClient.from_credentials(credentials))
        machine = await stack.enter_async_context(a_watched_machine())
        await Bench(sizes, plane, client, machine).run()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=int, default=500, help="each with two pods")
    parser.add_argument("--foreign", type=int, default=10_000, help="pods, Secrets and ConfigMaps of others, of each")
    parser.add_argument("--rest", type=float, default=60.0, help="seconds of rest that are measured")
    parser.add_argument("--profile", type=Path, help="where the operator's cProfile goes; it costs CPU")
    parser.add_argument("--skip-floor", action="store_true", help="leave the plain client out")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for the operator: --flag=--x=1")
    words = parser.parse_args()
    sizes = Sizes(
        engines=words.engines,
        foreign=words.foreign,
        rest_seconds=words.rest,
        profile=words.profile.resolve() if words.profile else None,
        flags=tuple(words.flag),
        has_floor=not words.skip_floor,
    )
    with cluster.a_control_plane() as plane:
        uvloop.run(run(sizes, plane))
    return 0


if __name__ == "__main__":
    sys.exit(main())
