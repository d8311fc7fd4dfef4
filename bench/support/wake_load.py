"""What does the wake hook cost a running engine? The same load with and without it, one after the other."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.support.fleet import INSTANCE, engine_name
from bench.support.name_server import NO_CACHE, a_name_server
from bench.support.wake_rig import ADMIN, Site
from firebolt_operator.api import names
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.gateway.envoy.bootstrap import envoy_bootstrap
from firebolt_operator.gateway.envoy.extensions import extension, socket_address
from firebolt_operator.gateway.envoy.http_filters import router
from firebolt_operator.refs import Manifest, Ref
from tests.api.waking.gateway import LOOPBACK, METRICS_PORT, AgentProcess, an_agent_process, answers, resolved_here
from tests.support.dataplane.client import Client
from tests.support.dataplane.envoy import running_envoy
from tests.support.gateways import an_instance, gateway_inputs

CONNECTIONS: Final = 32
NOWHERE: Final = Path("/dev/null")
BACKEND: Final = "127.0.0.2"
WARM_UP_SECONDS: Final = 2


@dataclass(frozen=True, slots=True)
class Load:
    queries: int
    rate: float  # per second


@dataclass(frozen=True, slots=True)
class Cost:
    """One run."""

    with_hook: Load
    without: Load
    calls: float  # to the agent, while the hook was measured

    @property
    def ratio(self) -> float:
        return self.with_hook.rate / self.without.rate

    @property
    def calls_per_thousand(self) -> float:
        return 1000 * self.calls / self.with_hook.queries


async def measure_cost(site: Site, runs: int, seconds: int) -> AsyncGenerator[Cost]:
    """Whichever comes first changes from run to run."""
    engine = engine_name(0)
    await site.client.merge_patch(Ref(FIREBOLT_ENGINES, site.namespace, engine), {"spec": {"replicas": 1}})
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(a_name_server(site.plane, site.network, NO_CACHE))
        backend_folder = site.folder / "backend"
        backend_folder.mkdir()
        await stack.enter_async_context(running_envoy(_backend(), backend_folder, namespace=site.network_file))
        account = names.gateway_name(INSTANCE)
        agent = await stack.enter_async_context(an_agent_process(site.place, site.network, account, ADMIN))
        await agent.until_metric("firebolt_gateway_wake_ready_engines", 1)
        for run in range(runs):
            found = dict[bool, Load]()
            calls = 0.0
            for has_hook in (True, False) if run % 2 else (False, True):
                found[has_hook], asked = await _measure(site, agent, engine, seconds, has_hook=has_hook)
                calls += asked
            cost = Cost(found[True], found[False], calls)
            print(
                f"run {run + 1}: {cost.with_hook.rate:.0f} queries/s with the hook, {cost.without.rate:.0f} without:"
                f" {cost.ratio:.3f}; {cost.calls_per_thousand:.2f} calls for 1,000 queries",
                flush=True,
            )
            yield cost


async def _measure(site: Site, agent: AgentProcess, engine: str, seconds: int, *, has_hook: bool) -> tuple[Load, float]:
    inputs = gateway_inputs(an_instance(INSTANCE, site.namespace, metrics_port=METRICS_PORT), wake=has_hook)
    bootstrap = resolved_here(envoy_bootstrap(inputs))
    async with running_envoy(bootstrap, site.folder, namespace=site.network_file, log=NOWHERE):
        client = Client(LOOPBACK, names.PORT_GATEWAY, site.network_file)
        while (await client.query("/", engine)).status != 200:  # noqa: ASYNC110 - it may still be on its way up
            await asyncio.sleep(0.1)
        client.close()
        await _wrk(site, engine, WARM_UP_SECONDS)
        before = await agent.metric(answers("ready"))
        load = await _wrk(site, engine, seconds)
        return load, await agent.metric(answers("ready")) - before


async def _wrk(site: Site, engine: str, seconds: int) -> Load:
    process = await asyncio.create_subprocess_exec(
        *site.network.prefix, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-H", f"X-Firebolt-Engine: {engine}",
        f"http://{LOOPBACK}:{names.PORT_GATEWAY}/",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, _ = await process.communicate()
    text = output.decode()
    found = re.search(r"(\d+) requests in ([\d.]+)s", text)
    if found is None or "Non-2xx" in text:
        raise RuntimeError(text)
    return Load(int(found[1]), int(found[1]) / float(found[2]))


def _backend() -> Manifest:
    """An Envoy that answers by itself for every pod: faster than any gateway in front of it."""
    answer = {"direct_response": {"status": 200, "body": {"inline_string": "1\n"}}}
    routes = {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, **answer}]}]}
    manager = extension(
        "envoy.filters.network.http_connection_manager",
        "filters.network.http_connection_manager.v3.HttpConnectionManager",
        {"stat_prefix": "engine", "route_config": routes, "http_filters": [router()]},
    )
    listener = {
        "name": "engine",
        "address": socket_address("0.0.0.0", names.PORT_QUERY),
        "filter_chains": [{"filters": [manager]}],
    }
    return {
        "static_resources": {"listeners": [listener]},
        "admin": {"address": socket_address(BACKEND, names.PORT_ENVOY_ADMIN)},
    }
