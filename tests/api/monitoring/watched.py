"""An operator with webhooks as a process, an agent, an instance with engines, and a real Prometheus over them."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.ports import free_port
from firebolt_local.testing.prometheus_server import Line, Prometheus, running_prometheus
from firebolt_operator.api.names import gateway_name
from firebolt_operator.refs import Manifest
from firebolt_operator.wake.routing import service_host
from tests.api.admission import place as admission
from tests.api.wake import place as wake
from tests.api.wake.running import Asked, an_agent
from tests.support.chart import CHART

SECONDS: Final = 180.0
RULES: Final = CHART.resolve() / "rules/firebolt.yaml"
AUTO_STOP: Final[Manifest] = {"enabled": True, "activeReplicas": 1, "idleTimeout": "10m"}
VARIABLES: Final = {"$namespace": ".*", "$__rate_interval": "5m"}


@dataclass(slots=True)
class Watched:
    prometheus: Prometheus
    operator: admission.Place
    agent: Asked
    gateway: wake.Place

    async def until(self, is_so: Callable[[], object], what: str) -> None:
        """For what only Prometheus can tell."""
        ends_at = asyncio.get_running_loop().time() + SECONDS
        while not await asyncio.to_thread(is_so):
            if asyncio.get_running_loop().time() > ends_at:
                raise AssertionError(f"not within {SECONDS:g} s: {what}; {self.operator.log.read_text()[-3000:]}")
            await asyncio.sleep(0.5)

    async def until_phase(self, engine: str, phase: str) -> None:
        def is_so() -> bool:
            found = self.operator.found("FireboltEngine", engine)
            return found is not None and found.get("status", {}).get("phase") == phase

        await self.until(is_so, f"{engine} is {phase}")

    async def make_engines(self) -> None:
        """One that runs, and two that are parked."""
        for manifest in (
            admission.instance("inst"),
            admission.engine("eng", replicas=2),
            admission.engine("parked", autoStop=AUTO_STOP),
            admission.engine("unreached", autoStop=AUTO_STOP),
        ):
            await asyncio.to_thread(self.operator.made, manifest)
        await self.until_phase("eng", "stable")
        for parked in ("parked", "unreached"):
            await self.until_phase(parked, "stopped")

    async def wake(self, engine: str = "parked") -> str:
        """What Envoy is told in the end."""
        self.agent.envoy.hosts.add(service_host(engine, self.operator.namespace))
        async with asyncio.timeout(SECONDS):
            return (await self.agent.hold(engine)).decision

    async def make_a_mistake(self) -> None:
        status, _ = await asyncio.to_thread(
            self.operator.create, admission.engine("bad", template=admission.HOSTNAME), dry_run=True
        )
        assert status == 403

    async def until_firing(self, *alerts: str) -> None:
        def is_so() -> bool:
            found = self.prometheus.alerts()
            return all(found.get(alert) == "firing" for alert in alerts)

        await self.until(is_so, f"{alerts} fire")

    async def until_silent(self, *alerts: str) -> None:
        await self.until(lambda: not set(alerts) & set(self.prometheus.alerts()), f"{alerts} are silent")

    def answer(self, query: str) -> list[Line]:
        """Series with a number in them."""
        for variable, value in VARIABLES.items():
            query = query.replace(variable, value)
        return [line for line in self.prometheus.query(query) if line.points]


def _config(operator_port: int, agent_port: int, namespace: str, rules: Path) -> dict[str, Any]:
    def targets(port: int, **labels: str) -> list[dict[str, Any]]:
        return [{"targets": [f"127.0.0.1:{port}"], "labels": labels}]

    return {
        "global": {"scrape_interval": "2s", "evaluation_interval": "2s"},
        "rule_files": [str(rules)],
        "scrape_configs": [
            {"job_name": "operator", "honor_labels": True, "static_configs": targets(operator_port, pod="operator-0")},
            {"job_name": "gateway", "static_configs": targets(agent_port, pod="gateway-0", namespace=namespace)},
        ],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a test wants it."""

    flags: tuple[str, ...] = ()  # of the operator
    hold_timeout: float = SECONDS
    hold_cap: int = 2000
    rules: Path = RULES


USUAL: Final = Manner()


@asynccontextmanager
async def watched(plane: ControlPlane, namespace: str, folder: Path, manner: Manner = USUAL) -> AsyncGenerator[Watched]:
    metrics = free_port()
    more = (
        f"--metrics-bind-address=127.0.0.1:{metrics}",
        "--metrics-secure=false",
        "--drain-settle=2s",
        "--leader-elect=true",
        f"--leader-elect-namespace={namespace}",
        *manner.flags,
    )
    operator = admission.Place(plane, namespace, folder / "operator.log", more=more)
    async with AsyncExitStack() as stack:
        stack.callback(operator.uninstall)
        stack.callback(operator.stop)
        operator.install()
        await asyncio.to_thread(operator.start)
        client = await stack.enter_async_context(wake.a_door(plane.kubeconfig))
        gateway = wake.Place(plane, client, namespace, folder)
        await gateway.make_account(gateway_name("agent"), "get", "list", "patch")
        await gateway.allow_slices(gateway_name("agent"), "get", "list", "watch")
        kubeconfig = gateway.kubeconfig_of(gateway_name("agent"))
        agent = await stack.enter_async_context(
            an_agent(kubeconfig, namespace, hold_timeout=manner.hold_timeout, cap=manner.hold_cap)
        )
        config = _config(metrics, agent.ports.metrics, namespace, manner.rules)
        prometheus = stack.enter_context(running_prometheus(folder / "prometheus", config))
        yield Watched(prometheus, operator, agent, gateway)


def panels(dashboard: Path) -> dict[str, list[str]]:
    """Queries of every panel, by title."""
    found = json.loads(dashboard.read_text())["panels"]
    return {panel["title"]: [target["expr"] for target in panel["targets"]] for panel in found if "targets" in panel}
