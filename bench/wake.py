"""How long does it take to wake an engine, and what does being able to cost a running one?

    python bench/wake.py                         # about five minutes
    python bench/wake.py --wakes 20 --runs 1     # a first impression

Real are Envoy with the rendered configuration, the agent as a process, the operator as a process, API server,
controllers, scheduler and CoreDNS; pods are simulated and answer from this process. Each wake is a query to a parked
engine: `spec.replicas` and ready endpoints are seen by a watch of this process, so what is told of them includes its
delay. Engines are woken for the first time, when Envoy has never heard of them, and again after a stop, when Envoy
remembers them without an address; the latter also behind resolvers that remember that a name had no address.

The hook's cost is taken with `wrk` from alternating measurements with and without it. Needs root and wrk.
"""

import argparse
import asyncio
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.support import cluster  # noqa: E402 - found through the line above
from bench.support.fleet import INSTANCE  # noqa: E402
from bench.support.machine import a_watched_machine  # noqa: E402
from bench.support.name_server import KUBERNETES_DEFAULTS, NO_CACHE, PLUGIN_DEFAULTS  # noqa: E402
from bench.support.operator_process import start_operator  # noqa: E402
from bench.support.report import Report, percentile  # noqa: E402
from bench.support.wake_load import Cost, measure_cost  # noqa: E402
from bench.support.wake_rig import (  # noqa: E402
    Outsider,
    Site,
    Wake,
    a_gateway,
    an_outsider,
    make_engines,
    stop_engines,
    wake_engines,
)
from firebolt_local.cluster.pod_network import open_pod_network  # noqa: E402
from firebolt_local.cluster.simulated_pods import POD_RANGE  # noqa: E402
from firebolt_local.testing.crds import install_crds  # noqa: E402
from firebolt_operator.kube.client import KubeClient  # noqa: E402
from firebolt_operator.kube.credentials import load_credentials  # noqa: E402

NAMESPACE = "bench"
AT_ONCE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    wakes: int
    cached_wakes: int  # behind a resolver with a cache
    runs: int
    seconds: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wakes", type=int, default=100, help="engines to wake, each twice")
    parser.add_argument("--cached-wakes", type=int, default=20, help="of them, again behind each resolver with a cache")
    parser.add_argument("--runs", type=int, default=5, help="measurements of the hook's cost, with and without it")
    parser.add_argument("--seconds", type=int, default=5, help="length of each")
    options = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("wrk"):
        print("needs root, for a network where pods have addresses, and wrk", file=sys.stderr)
        return 1
    sizes = Sizes(
        wakes=options.wakes,
        cached_wakes=min(options.cached_wakes, options.wakes),
        runs=options.runs,
        seconds=options.seconds,
    )
    asyncio.run(measure_everything(sizes))
    return 0


async def measure_everything(sizes: Sizes) -> None:
    report = Report()
    async with a_watched_machine() as machine, a_site() as site, an_outsider(site.client, NAMESPACE) as outsider:
        await measure_wakes(sizes, site, outsider, report)
        if sizes.runs:
            add_cost(report, [cost async for cost in measure_cost(site, sizes.runs, sizes.seconds)])
        report.show()
        print(f"\n  the machine was {machine.slowdown():.1f} times slower than at its best")


@asynccontextmanager
async def a_site() -> AsyncGenerator[Site]:
    with cluster.a_control_plane() as plane, tempfile.TemporaryDirectory() as folder:
        network = open_pod_network(plane, POD_RANGE)
        credentials = load_credentials(str(plane.kubeconfig), {})
        async with KubeClient.from_credentials(credentials) as client:
            await install_crds(client)
            await cluster.make_namespace(client, NAMESPACE)
            operator = start_operator(plane, [f"--namespaces={NAMESPACE}"])
            try:
                await cluster.make_instance(client, NAMESPACE, INSTANCE)
                yield Site(plane, client, network, NAMESPACE, Path(folder))
            finally:
                operator.stop()


async def measure_wakes(sizes: Sizes, site: Site, outsider: Outsider, report: Report) -> None:
    engines = await make_engines(site, sizes.wakes)
    await outsider.until_stopped(engines)
    async with a_gateway(site, NO_CACHE) as gateway:
        first = await wake_engines(gateway, outsider, engines, AT_ONCE)
        describe("first wakes, no DNS cache", first)
        await stop_engines(site, outsider, engines)
        again = await wake_engines(gateway, outsider, engines, AT_ONCE)
        describe("wakes again, no DNS cache", again)
    report.add("query to spec.replicas, p50", 1000 * p([each.to_replicas for each in first + again], 0.5), 150, "ms")
    report.add("query to spec.replicas, p99", 1000 * p([each.to_replicas for each in first + again], 0.99), 150, "ms")
    report.add("ready endpoint to answer, first, p99", p([each.to_answer for each in first], 0.99), 1.5, "s")
    report.add("ready endpoint to answer, again, p99", p([each.to_answer for each in again], 0.99), 1.5, "s")
    for name, corefile in (("ttl 5, cache", PLUGIN_DEFAULTS), ("ttl 30, cache 30", KUBERNETES_DEFAULTS)):
        few = engines[: sizes.cached_wakes]
        async with a_gateway(site, corefile) as gateway:
            await stop_engines(site, outsider, few)
            describe(f"Envoy knows nothing, CoreDNS `{name}`", await wake_engines(gateway, outsider, few, len(few)))
            await stop_engines(site, outsider, few)
            await asyncio.sleep(2)  # Envoy asks for names once a second, and the answers are remembered
            describe(f"Envoy remembers, CoreDNS `{name}`", await wake_engines(gateway, outsider, few, len(few)))


def describe(what: str, wakes: Sequence[Wake]) -> None:
    failed = sum(wake.status != 200 for wake in wakes)
    print(f"{what}: {len(wakes)} wakes, {failed} failed", flush=True)
    for name, values, unit, factor in (
        ("query to spec.replicas", [wake.to_replicas for wake in wakes], "ms", 1000.0),
        ("spec.replicas to ready endpoint", [wake.to_endpoint for wake in wakes], "s", 1.0),
        ("ready endpoint to answer", [wake.to_answer for wake in wakes], "s", 1.0),
    ):
        spread = "  ".join(f"{label} {factor * p(values, share):8.2f}" for label, share in SHARES)
        print(f"    {name:<34}{spread} {unit}", flush=True)


SHARES = (("min", 0.0), ("p50", 0.5), ("p99", 0.99), ("max", 1.0))


def p(values: Sequence[float], share: float) -> float:
    return percentile(sorted(values), share)


def add_cost(report: Report, runs: Sequence[Cost]) -> None:
    ratios = sorted(run.ratio for run in runs)
    calls = sorted(run.calls_per_thousand for run in runs)
    print(
        f"with the hook / without: median {statistics.median(ratios):.3f}, from {ratios[0]:.3f} to {ratios[-1]:.3f}"
        f" over {len(ratios)} runs"
    )
    report.add("agent calls for 1,000 queries, highest run", calls[-1], 5)


if __name__ == "__main__":
    sys.exit(main())
