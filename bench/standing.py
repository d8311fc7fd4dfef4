"""What do thousands of engines cost that stand already, and how soon does the next leader write?

    python bench/standing.py                                  # 5,000 engines, 30,000 foreign objects of each kind
    python bench/standing.py --engines 500 --foreign 1000     # a first impression

Engines are copies of one that the operator made (bench/support/standing.py), on a real API server: the operator cannot
tell them from its own. Told are memory, a resting minute, the time from a cold start and from a lease that was won to
the first write, and how soon a leader that ends properly is followed. Leaves a record like bench/engines.py.
"""

import argparse
import asyncio
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import uvloop

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.support import cluster  # noqa: E402 - found through the line above
from bench.support.fleet import Fleet  # noqa: E402
from bench.support.machine import a_watched_machine  # noqa: E402
from bench.support.meter import Meter  # noqa: E402
from bench.support.operator_process import OperatorProcess  # noqa: E402
from bench.support.record import Record, begin_record, record_path  # noqa: E402
from bench.support.report import Report  # noqa: E402
from bench.support.standing import copy_engines, one_engine  # noqa: E402
from bench.support.succession import Throne  # noqa: E402
from firebolt_local.cluster.control_plane import ControlPlane  # noqa: E402
from firebolt_local.testing.crds import install_crds  # noqa: E402
from firebolt_operator.kube.client import KubeClient  # noqa: E402
from firebolt_operator.kube.credentials import load_credentials  # noqa: E402

NAMESPACE = "bench"
FOREIGN_NAMESPACE = "foreign"
FLAGS = ("--engine-image=engine:1", "--ui-image=ui:1")
CALM_SECONDS = 40.0  # each engine has had its look after 30 s by then
MOST_MEBIBYTES = 250
FLEET = 5_000


@dataclass(slots=True)
class Bench:
    plane: ControlPlane
    client: KubeClient
    engines: int
    foreign: int
    rest_seconds: float
    report: Report = field(default_factory=Report)

    async def run(self) -> None:
        await install_crds(self.client)
        await cluster.make_namespace(self.client, NAMESPACE)
        await cluster.make_namespace(self.client, FOREIGN_NAMESPACE)
        original = await one_engine(self.plane, self.client, NAMESPACE, FLAGS)
        began_at = time.monotonic()
        await copy_engines(self.client, original, self.engines)
        print(f"{self.engines} engines stand after {time.monotonic() - began_at:.0f} s", flush=True)
        await cluster.make_foreign(self.client, FOREIGN_NAMESPACE, self.foreign)
        print(
            f"{self.foreign} foreign pods, Secrets and ConfigMaps after {time.monotonic() - began_at:.0f} s", flush=True
        )
        throne = Throne(self.plane, Fleet(self.client, NAMESPACE), FLAGS)
        cold = await throne.cold_start()
        self.report.add("cold start to first write", cold.whole, 20, "s")
        await self._rest(cold.followed)
        self._memory("memory of who started cold, peak", cold.followed)
        handed = await throne.hand_over(cold.followed)
        self.report.add("told to end, to the next one's lease", handed.to_lease, 2, "s")
        self.report.add("lease won to first write", handed.to_write, 5, "s")
        await asyncio.sleep(CALM_SECONDS)
        self._memory("memory of who followed, peak", handed.followed)
        handed.followed.stop()

    async def _rest(self, operator: OperatorProcess) -> None:
        await asyncio.sleep(CALM_SECONDS)
        meter = Meter(self.plane, operator)
        await asyncio.sleep(self.rest_seconds)
        span = await meter.read(time.monotonic())
        per_minute = 60 / span.wall_seconds
        print(f"rest: {span.describe(1)}{span.requests.leases} for the lease", flush=True)
        self.report.add("a resting minute: requests, but for the Lease", span.requests.total * per_minute, 0)
        most = max(0.1, self.engines / FLEET)
        self.report.add("a resting minute: CPU", span.cpu_seconds * per_minute, most, "s")

    def _memory(self, what: str, operator: OperatorProcess) -> None:
        usage = operator.usage()
        print(
            f"{what}: {usage.peak_rss_mib:.0f} MiB, now {usage.rss_mib:.0f}; {usage.cpu_seconds:.1f} CPU s", flush=True
        )
        self.report.add(what, usage.peak_rss_mib, MOST_MEBIBYTES, "MiB")


async def run(plane: ControlPlane, words: argparse.Namespace) -> None:
    now = datetime.fromtimestamp(time.time(), tz=UTC)
    record: Record = begin_record("standing", words.engines, (f"--foreign={words.foreign}",), now)
    credentials = load_credentials(str(plane.kubeconfig), {})
    async with KubeClient.from_credentials(credentials) as client, a_watched_machine() as machine:
        bench = Bench(plane, client, words.engines, words.foreign, words.rest)
        try:
            await bench.run()
        finally:
            record.slowdown = machine.slowdown()
            record.keep(words.record or record_path(record), bench.report)
            bench.report.show()
            print(f"\n  CPU seconds are {record.slowdown:.1f} times what they are on this machine when it is idle")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=int, default=FLEET, help="each with two pods")
    parser.add_argument("--foreign", type=int, default=30_000, help="pods, Secrets and ConfigMaps of others, of each")
    parser.add_argument("--rest", type=float, default=60.0, help="seconds of rest that are measured")
    parser.add_argument("--record", type=Path, help="where the record goes; below build/bench without it")
    words = parser.parse_args()
    with cluster.a_control_plane() as plane:
        uvloop.run(run(plane, words))
    return 0


if __name__ == "__main__":
    sys.exit(main())
