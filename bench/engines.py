"""What does the operator cost with many engines? Creates, rolls, rests, hands over and restarts on simulated pods.

    python bench/engines.py                                     # 500 engines: about ten minutes
    python bench/engines.py --engines 50 --foreign 0 --rest 20  # a first impression
    python bench/engines.py --engines 100 --profile /tmp/operator.prof

In the same run one plain client makes the same children with `create`, 24 in flight, and waits for the same pods: the
floor that no operator can beat on this machine. Requests, and how long writes took the server itself, are taken from
the API server's audit log; CPU and memory of the operator's process from /proc; one outsider watches pods and Services
to tell the time between them. Every run leaves a record (build/bench/), which `bench/compare.py` draws beside another.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import uvloop

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.support import cluster  # noqa: E402 - found through the line above
from bench.support.fleet import INSTANCE, Fleet, PlainClient  # noqa: E402
from bench.support.machine import Machine, a_watched_machine  # noqa: E402
from bench.support.meter import Meter, Span, cpu_of_programs, cpu_since, in_words  # noqa: E402
from bench.support.operator_process import OperatorProcess, start_operator  # noqa: E402
from bench.support.outsider import Outsider, an_outsider  # noqa: E402
from bench.support.record import Record, begin_record, record_path  # noqa: E402
from bench.support.report import Report, percentile  # noqa: E402
from bench.support.succession import Throne  # noqa: E402
from firebolt_local.cluster.control_plane import ControlPlane  # noqa: E402
from firebolt_local.testing.crds import install_crds  # noqa: E402
from firebolt_operator.kube.client import KubeClient  # noqa: E402
from firebolt_operator.kube.credentials import load_credentials  # noqa: E402

NAMESPACE = "bench"
FLOOR_NAMESPACE = "floor"
WARM_NAMESPACE = "warm"
WARM_ENGINES = 20
FOREIGN_NAMESPACE = "foreign"
TOGETHER = 50  # engines of the smaller rollout
CALM_SECONDS = 40.0  # each engine has had its look after 30 s by then
START_SECONDS = 15.0  # in which every engine has had its first pass
PARTS = ("create", "roll", "rest", "succession")
MEBIBYTES_EMPTY, MEBIBYTES_EACH = 75, 0.035  # 250 MiB for five thousand engines


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    engines: int
    foreign: int
    rest_seconds: float
    profile: Path | None
    flags: tuple[str, ...]  # of the operator, besides those that the benchmark needs
    has_floor: bool
    has_rolling_floor: bool
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Floor:
    """Seconds that the same takes without an operator, by the clock and of all cores; None: not measured."""

    create: float | None = None
    create_cpu: float | None = None
    roll: float | None = None
    roll_cpu: float | None = None


@dataclass(slots=True)
class Bench:
    sizes: Sizes
    plane: ControlPlane
    client: KubeClient
    machine: Machine
    record: Record
    path: Path
    report: Report = field(default_factory=Report)

    async def run(self) -> None:
        await install_crds(self.client)
        floor = await self._floor() if self.sizes.has_floor else Floor()
        await cluster.make_namespace(self.client, NAMESPACE)
        async with an_outsider(self.plane.kubeconfig_for("outsider"), NAMESPACE) as outsider:
            operator = start_operator(self.plane, self.sizes.flags, profile=self.sizes.profile)
            async with asyncio.TaskGroup() as group:
                guard = group.create_task(operator.until_dead(), name="guard")
                await cluster.make_instance(self.client, NAMESPACE, INSTANCE)
                await self._create(operator, outsider, floor)
                if "roll" in self.sizes.parts:
                    await self._roll_few(outsider)
                    await self._roll(operator, outsider, floor)
                if "rest" in self.sizes.parts:
                    await self._rest(operator)
                guard.cancel()
        if self.sizes.foreign:
            await self._make_strangers()
        if "succession" in self.sizes.parts:
            await self._succession(operator)
        else:
            operator.stop()
        self.report.show()
        print(f"\n  CPU seconds are {self.machine.slowdown():.1f} times what they are on this machine when it is idle")
        print(f"  kept in {self.path}")

    async def _floor(self) -> Floor:
        """On programs that have worked before, as ours finds them: what they do for the first time takes longer."""
        await self._plain(WARM_NAMESPACE, min(WARM_ENGINES, self.sizes.engines), has_roll=False)
        return await self._plain(FLOOR_NAMESPACE, self.sizes.engines, has_roll=self.sizes.has_rolling_floor)

    async def _plain(self, namespace: str, count: int, *, has_roll: bool) -> Floor:
        plain, roll, roll_cpu = PlainClient(self.client, namespace), None, None
        await cluster.make_namespace(self.client, namespace)
        async with an_outsider(self.plane.kubeconfig_for("outsider"), namespace) as outsider:
            spent, began_at = cpu_of_programs(self.plane, with_us=True), time.monotonic()
            await plain.create(count)
            create = await outsider.until_pods_ready(count, 0) - began_at
            used = cpu_since(self.plane, spent, with_us=True)
            say(f"plain client: {count} created in {create:.1f} s; CPU seconds: {in_words(used)}")
            create_cpu = sum(used.values())
            if has_roll:
                spent, began_at = cpu_of_programs(self.plane, with_us=True), time.monotonic()
                await plain.roll(count, outsider)
                roll = time.monotonic() - began_at
                used = cpu_since(self.plane, spent, with_us=True)
                say(f"plain client: {count} rolled in {roll:.1f} s; CPU seconds: {in_words(used)}")
                roll_cpu = sum(used.values())
        await cluster.remove_namespace(self.client, namespace)
        return Floor(create, create_cpu, roll, roll_cpu)

    async def _create(self, operator: OperatorProcess, outsider: Outsider, floor: Floor) -> None:
        count, report = self.sizes.engines, self.report
        meter = Meter(self.plane, operator)
        await Fleet(self.client, NAMESPACE).create(count)
        span = await meter.read(await outsider.until_at_rest(count, 0))
        memory = operator.usage().peak_rss_mib
        say(f"created: {span.describe(count)}peak {memory:.0f} MiB")
        report.add("created to stable", span.wall_seconds, 1.8, "s", floor=floor.create)
        report.add("created to stable, CPU of all programs", span.whole_cpu_seconds, 1.8, "s", floor=floor.create_cpu)
        self._add_costs("creation", span, milliseconds=16, requests=10)
        report.add("memory once created, peak", memory, MEBIBYTES_EMPTY + MEBIBYTES_EACH * count, "MiB")
        self._keep()

    async def _roll_few(self, outsider: Outsider) -> None:
        few = min(TOGETHER, self.sizes.engines)
        await Fleet(self.client, NAMESPACE).roll(few, "engine:2")
        await outsider.until_at_rest(few, 1)
        delays = sorted((await outsider.switch_delays(1)).values())
        say(f"{few} rolled: ready to switched {spread(delays)}")
        self.report.add(f"last pod ready to selector, p99, {few} of them", percentile(delays, 0.99), 0.2, "s")

    async def _roll(self, operator: OperatorProcess, outsider: Outsider, floor: Floor) -> None:
        """Those that were rolled just now get their third generation, the others their second."""
        count, few, report = self.sizes.engines, min(TOGETHER, self.sizes.engines), self.report
        meter = Meter(self.plane, operator)
        await Fleet(self.client, NAMESPACE).roll(count, "engine:3")
        await outsider.until_at_rest(few, 2)
        span = await meter.read(await outsider.until_at_rest(count, 1))
        delays = sorted((await outsider.switch_delays(1) | await outsider.switch_delays(2)).values())
        say(f"rolled: {span.describe(count)}ready to switched {spread(delays)}")
        report.add("last pod ready to selector, p99, all of them", percentile(delays, 0.99), 0.5, "s")
        report.add("a write, as the API server tells it, median", span.requests.median_write, None, "s")
        report.add("rolled together (floor: created)", span.wall_seconds, 2.8, "s", floor=floor.create)
        report.add(
            "rolled, CPU of all programs (floor: created)", span.whole_cpu_seconds, 2.8, "s", floor=floor.create_cpu
        )
        if floor.roll is not None:
            report.add("rolled together (floor: rolled)", span.wall_seconds, None, "s", floor=floor.roll)
            report.add(
                "rolled, CPU of all programs (floor: rolled)", span.whole_cpu_seconds, None, "s", floor=floor.roll_cpu
            )
        self._add_costs("rollout", span, milliseconds=26, requests=15)
        memory = operator.usage().peak_rss_mib
        report.add("memory once rolled, peak", memory, MEBIBYTES_EMPTY + MEBIBYTES_EACH * count, "MiB")
        self._keep()

    async def _rest(self, operator: OperatorProcess) -> None:
        await asyncio.sleep(CALM_SECONDS)
        meter = Meter(self.plane, operator)
        await asyncio.sleep(self.sizes.rest_seconds)
        span = await meter.read(time.monotonic())
        per_minute = 60 / span.wall_seconds
        say(f"rest: {span.describe(1)}{span.requests.leases} for the lease; {operator.usage().rss_mib:.0f} MiB")
        self.report.add("a resting minute: requests, but for the Lease", span.requests.total * per_minute, 0)
        most = max(0.1, self.sizes.engines / 5_000)
        self.report.add("a resting minute: CPU", span.cpu_seconds * per_minute, most, "s")
        self._keep()

    async def _make_strangers(self) -> None:
        count = self.sizes.foreign
        await cluster.make_namespace(self.client, FOREIGN_NAMESPACE)
        await cluster.make_foreign(self.client, FOREIGN_NAMESPACE, count)
        say(f"{count} foreign pods, Secrets and ConfigMaps made")

    async def _succession(self, leader: OperatorProcess) -> None:
        throne = Throne(self.plane, Fleet(self.client, NAMESPACE), self.sizes.flags)
        handed = await throne.hand_over(leader)
        say(f"handed over: lease {handed.to_lease:.2f} s after the former was told to end")
        self.report.add("told to end, to the next one's lease", handed.to_lease, 2, "s")
        self.report.add("lease won to first write", handed.to_write, 5, "s")
        handed.followed.stop()
        cold = await throne.cold_start()
        await asyncio.sleep(START_SECONDS)
        usage = cold.followed.usage()
        say(f"cold: {usage.cpu_seconds:.1f} CPU s, {usage.rss_mib:.0f} MiB, peak {usage.peak_rss_mib:.0f} MiB")
        self.report.add("cold start to first write", cold.whole, 20, "s")
        strangers = f", {self.sizes.foreign} foreign objects of each kind" if self.sizes.foreign else ""
        most = MEBIBYTES_EMPTY + MEBIBYTES_EACH * self.sizes.engines
        self.report.add(f"memory after a cold start{strangers}", usage.peak_rss_mib, most, "MiB")
        cold.followed.stop()
        self._keep()

    def _add_costs(self, what: str, span: Span, *, milliseconds: float, requests: float) -> None:
        count = self.sizes.engines
        self.report.add(f"CPU for each {what}", 1000 * span.cpu_seconds / count, milliseconds, "ms")
        self.report.add(f"requests for each {what}", span.requests.total / count, requests)

    def _keep(self) -> None:
        self.record.slowdown = self.machine.slowdown()
        self.record.keep(self.path, self.report)


def spread(delays: Sequence[float]) -> str:
    shares = ", ".join(f"p{share * 100:g} {percentile(delays, share):.3f} s" for share in (0.5, 0.9, 0.99))
    return f"{shares} ({len(delays)} engines)"


def say(text: str) -> None:
    load = os.getloadavg()[0]
    print(f"[load {load:5.1f}] {text}", flush=True)


async def run(sizes: Sizes, plane: ControlPlane, path: Path | None) -> None:
    record = begin_record("engines", sizes.engines, sizes.flags, datetime.fromtimestamp(time.time(), tz=UTC))
    async with AsyncExitStack() as stack:
        credentials = load_credentials(str(plane.kubeconfig), {})
        client = await stack.enter_async_context(KubeClient.from_credentials(credentials))
        machine = await stack.enter_async_context(a_watched_machine())
        await Bench(sizes, plane, client, machine, record, path or record_path(record)).run()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=int, default=500, help="each with two pods")
    parser.add_argument("--foreign", type=int, default=10_000, help="pods, Secrets and ConfigMaps of others, of each")
    parser.add_argument("--rest", type=float, default=60.0, help="seconds of rest that are measured")
    parser.add_argument("--profile", type=Path, help="where the operator's cProfile goes; it costs CPU")
    parser.add_argument("--skip-floor", action="store_true", help="leave the plain client out")
    parser.add_argument("--rolling-floor", action="store_true", help="let the plain client replace its objects, too")
    parser.add_argument("--parts", default=",".join(PARTS), help="which of them; creating is always one")
    parser.add_argument("--record", type=Path, help="where the record goes; below build/bench without it")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for the operator: --flag=--x=1")
    words = parser.parse_args()
    sizes = Sizes(
        engines=words.engines,
        foreign=words.foreign,
        rest_seconds=words.rest,
        profile=words.profile.resolve() if words.profile else None,
        flags=tuple(words.flag),
        has_floor=not words.skip_floor,
        has_rolling_floor=words.rolling_floor,
        parts=tuple(words.parts.split(",")),
    )
    with cluster.a_control_plane() as plane:
        uvloop.run(run(sizes, plane, words.record))
    return 0


if __name__ == "__main__":
    sys.exit(main())
