"""What does the gateway cost next to a plain Envoy? Small answers, one Envoy worker, HTTP/1.1 and HTTP/2 clients.

    python bench/gateway.py                     # one run of a little over a minute for each line of the table
    python bench/gateway.py --runs 5            # the median of five
    python bench/gateway.py --seconds 5         # a first impression
    python bench/gateway.py --tls               # the same TLS on both sides of each, with clients and with the backend

Three variants, with the same backend and the same load:
  plain     Envoy with one route to the backend
  gateway   our configuration, with the wake hold
  per-query the same with one connection and one question to the wake agent for every query

Each measurement outlasts a minute because closed connections keep their local port for that long: whoever opens one
per query may run out of ports. Between loopback addresses the kernel may reuse such ports earlier (tcp_tw_reuse, 2 by
default), so `per-query` can look better here than between machines.

Needs `wrk` and `h2load` (Debian packages wrk and nghttp2-client) and no root.
"""

import argparse
import asyncio
import math
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]  # the rig of the data-plane tests is reused

from bench.support.gateway_tls import both_sides, connecting, listening, write_certificates  # noqa: E402
from firebolt_operator.api import names  # noqa: E402
from firebolt_operator.gateway.envoy.bootstrap import envoy_bootstrap  # noqa: E402
from firebolt_operator.gateway.envoy.extensions import extension, socket_address  # noqa: E402
from firebolt_operator.gateway.envoy.http_filters import router  # noqa: E402
from firebolt_operator.refs import Manifest  # noqa: E402
from tests.support.dataplane.dns_server import Zone, serving_dns  # noqa: E402 - found through the line above
from tests.support.dataplane.envoy import Envoy, running_envoy  # noqa: E402
from tests.support.dataplane.relocation import (  # noqa: E402
    DNS_PORT,
    connection_manager,
    engine_cluster,
    relocated,
)
from tests.support.dataplane.rig import rig_inputs, service_host  # noqa: E402

TARGET = 0.65  # of a plain Envoy's throughput
ENGINE = "eng"
NOWHERE = Path("/dev/null")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Place:
    """Loopback addresses of this run."""

    gateway: str
    pod: str
    certificates: Path | None = None  # the folder of TLS; none: everything is in the clear


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is asked, and with which certificates."""

    seconds: int
    connections: int
    certificates: Path | None


@dataclass(frozen=True, slots=True)
class Measured:
    queries: int
    failed: int
    seconds: float
    p50_ms: float
    p99_ms: float
    cpu_seconds: float = 0.0  # of the gateway's Envoy alone

    @property
    def rate(self) -> float:
        return (self.queries - self.failed) / self.seconds

    @property
    def cpu_us(self) -> float:
        return self.cpu_seconds / max(1, self.queries) * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=65, help="length of one measurement")
    parser.add_argument("--runs", type=int, default=1, help="how often to measure everything")
    parser.add_argument("--connections", type=int, default=32, help="queries in flight")
    parser.add_argument("--tls", action="store_true", help="encrypt both sides, of the plain Envoy as well")
    options = parser.parse_args()
    generators = {name: make for name, make in GENERATORS.items() if shutil.which(make.tool)}
    for missing in GENERATORS.keys() - generators.keys():
        print(f"{missing} is left out: {GENERATORS[missing].tool} is not installed", file=sys.stderr)
    if not generators:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        certificates = Path(folder) if options.tls else None
        if certificates is not None:
            write_certificates(certificates, ENGINE, "gateway")
        load = Amount(options.seconds, options.connections, certificates)
        asyncio.run(measure_everything(load, options.runs, generators))
    return 0


async def measure_everything(load: Amount, runs: int, generators: dict[str, "Generator"]) -> None:
    runs_of: dict[str, list[dict[str, Measured]]] = {protocol: [] for protocol in generators}
    print(f"{'':10}{'':10}{'queries/s':>10}{'p50 ms':>8}{'p99 ms':>8}{'failed':>8}{'CPU us':>8}{'CPU':>6}")
    for _ in range(runs):
        for protocol, generator in generators.items():
            results = {variant: await measure(variant, generator, load) for variant in VARIANTS}
            for variant, found in results.items():
                print_line(protocol, variant, found)
            runs_of[protocol].append(results)
    for protocol, found_runs in runs_of.items():
        print_verdict(protocol, found_runs)


def print_verdict(protocol: str, runs: list[dict[str, Measured]]) -> None:
    """Throughput is what counts; CPU per query says the same where other work disturbs the machine."""
    by_rate = statistics.median(run["gateway"].rate / run["plain"].rate for run in runs)
    by_cpu = statistics.median(run["plain"].cpu_us / run["gateway"].cpu_us for run in runs)
    verdict = "reached" if by_rate >= TARGET else "missed"
    print(f"{protocol}: gateway / plain {by_rate:.2f} by queries/s, {by_cpu:.2f} by CPU (median of {len(runs)});")
    print(f"{'':10}target {TARGET} {verdict}")


def print_line(protocol: str, variant: str, found: Measured) -> None:
    busy = found.cpu_seconds / found.seconds
    print(
        f"{protocol:10}{variant:10}{found.rate:>10.0f}{found.p50_ms:>8.2f}{found.p99_ms:>8.2f}{found.failed:>8}"
        f"{found.cpu_us:>8.1f}{busy:>6.0%}",
        flush=True,
    )


async def measure(variant: str, generator: "Generator", load: Amount) -> Measured:
    prefix = f"127.{random.randint(10, 250)}.{random.randint(1, 250)}"
    place = Place(f"{prefix}.1", f"{prefix}.2", load.certificates)
    async with measured_envoy(VARIANTS[variant](place), place) as running:
        url = f"{'https' if place.certificates else 'http'}://{place.gateway}:{names.PORT_GATEWAY}/"
        await generator.load(url, 1, load.connections)  # connections are made, hosts are known
        before = cpu_seconds(running.process.pid)
        found = await generator.load(url, load.seconds, load.connections)
        used = cpu_seconds(running.process.pid) - before
    return Measured(found.queries, found.failed, found.seconds, found.p50_ms, found.p99_ms, used)


@asynccontextmanager
async def measured_envoy(bootstrap: Manifest, place: Place) -> AsyncGenerator[Envoy]:
    zone = Zone()
    with tempfile.TemporaryDirectory() as backend_folder, tempfile.TemporaryDirectory() as folder:
        async with (
            serving_dns(zone, place.gateway, DNS_PORT),
            running_envoy(backend_bootstrap(place), Path(backend_folder), log=NOWHERE),
            running_envoy(bootstrap, Path(folder), log=NOWHERE) as running,
        ):
            zone.set(service_host(ENGINE), place.pod)
            yield running


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def gateway_bootstrap(place: Place) -> Manifest:
    inputs = rig_inputs(wake=True, tls=both_sides() if place.certificates else None)
    return relocated(envoy_bootstrap(inputs), place.gateway, place.certificates)


def per_query_bootstrap(place: Place) -> Manifest:
    bootstrap = gateway_bootstrap(place)
    engines = engine_cluster(bootstrap)
    del engines["typed_extension_protocol_options"]
    engines["max_requests_per_connection"] = 1
    for each in connection_manager(bootstrap)["http_filters"]:
        source = each["typed_config"].get("default_source_code")
        if source is not None:
            source["inline_string"] = source["inline_string"].replace("READY_MEMORY_MS = 250", "READY_MEMORY_MS = 0")
    return bootstrap


def plain_bootstrap(place: Place) -> Manifest:
    cluster: Manifest = {
        "name": "backend",
        "type": "STATIC",
        "load_assignment": {
            "cluster_name": "backend",
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": socket_address(place.pod, names.PORT_QUERY)}}]}],
        },
    }
    client_listener = listener(place.gateway, names.PORT_GATEWAY, {"route": {"cluster": "backend"}})
    if place.certificates:
        cluster["transport_socket"] = connecting(place.certificates)
        client_listener["filter_chains"][0]["transport_socket"] = listening(place.certificates, "gateway")
    return {
        "static_resources": {
            "listeners": [client_listener],
            "clusters": [cluster],
        },
        "admin": {"address": socket_address(place.gateway, names.PORT_ENVOY_ADMIN)},
    }


def backend_bootstrap(place: Place) -> Manifest:
    """Engine and wake agent in one: an Envoy that answers by itself is faster than any gateway in front of it."""
    answer = {"direct_response": {"status": 200, "body": {"inline_string": "1\n"}}}
    ready = {"header": {"key": "x-firebolt-wake-decision", "value": "ready"}}
    engine = listener(place.pod, names.PORT_QUERY, answer)
    if place.certificates:
        engine["filter_chains"][0]["transport_socket"] = listening(place.certificates, "engine")
    return {
        "static_resources": {
            "listeners": [
                engine,
                listener(place.gateway, names.PORT_WAKE_HOLD, {**answer, "response_headers_to_add": [ready]}),
            ]
        },
        "admin": {"address": socket_address(place.pod, names.PORT_ENVOY_ADMIN)},
    }


def listener(address: str, port: int, action: Manifest) -> Manifest:
    routes = {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, **action}]}]}
    manager = extension(
        "envoy.filters.network.http_connection_manager",
        "filters.network.http_connection_manager.v3.HttpConnectionManager",
        {"stat_prefix": f"port_{port}", "route_config": routes, "http_filters": [router()]},
    )
    return {
        "name": f"port_{port}",
        "address": socket_address(address, port),
        "filter_chains": [{"filters": [manager]}],
    }


VARIANTS: dict[str, Callable[[Place], Manifest]] = {
    "plain": plain_bootstrap,
    "gateway": gateway_bootstrap,
    "per-query": per_query_bootstrap,
}


class Generator:
    """A program that makes load, and how to read what it says."""

    tool = ""

    async def load(self, url: str, seconds: int, connections: int) -> Measured:
        raise NotImplementedError


class Http1(Generator):
    tool = "wrk"

    async def load(self, url: str, seconds: int, connections: int) -> Measured:
        text = await output_of(
            "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "--latency",
            "-H", f"X-Firebolt-Engine: {ENGINE}", url,
        )  # fmt: skip
        requests = re.search(r"(\d+) requests in ([\d.]+)(m|s)", text)
        if requests is None:
            raise RuntimeError(text)
        wall = float(requests[2]) * (60 if requests[3] == "m" else 1)
        refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
        return Measured(
            queries=int(requests[1]),
            failed=int(refused[1]) if refused else 0,
            seconds=wall,
            p50_ms=wrk_milliseconds(text, "50%"),
            p99_ms=wrk_milliseconds(text, "99%"),
        )


class Http2(Generator):
    tool = "h2load"

    async def load(self, url: str, seconds: int, connections: int) -> Measured:
        streams = max(1, connections // 4)
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "requests"
            await output_of(
                "h2load", "-t1", "-c4", f"-m{streams}", f"-D{seconds}", f"--log-file={log}",
                "-H", f"X-Firebolt-Engine: {ENGINE}", url,
            )  # fmt: skip
            rows = [line.split("\t") for line in log.read_text().splitlines()]
        times = sorted(int(row[2]) / 1000 for row in rows)
        failed = sum(row[1] != "200" for row in rows)
        return Measured(
            queries=len(rows),
            failed=failed,
            seconds=seconds,
            p50_ms=percentile(times, 0.50),
            p99_ms=percentile(times, 0.99),
        )


def percentile(ordered: list[float], share: float) -> float:
    return ordered[int(len(ordered) * share)] if ordered else math.nan


def wrk_milliseconds(text: str, share: str) -> float:
    found = re.search(rf"{share}\s+([\d.]+)(us|ms|s|m)\b", text)
    if found is None:
        raise RuntimeError(text)
    return float(found[1]) * {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}[found[2]]


async def output_of(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(output.decode(errors="replace"))
    return output.decode(errors="replace")


GENERATORS: dict[str, Generator] = {"HTTP/1.1": Http1(), "HTTP/2": Http2()}

if __name__ == "__main__":
    sys.exit(main())
