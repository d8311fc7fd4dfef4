"""How busy are these pods? Asks each for its metrics, all at once, each with its own deadline."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import aiohttp

from firebolt_operator.api.names import PORT_ENGINE_METRICS, ScrapeMode
from firebolt_operator.api.resources import PODS
from firebolt_operator.engine.answers import Activity
from firebolt_operator.engine.observe.gauges import parse_activity
from firebolt_operator.engine.views import PodView
from firebolt_operator.errors import OperatorError, TransientError
from firebolt_operator.kube.bodies import whole_body
from firebolt_operator.kube.ports import Reader
from firebolt_operator.refs import Ref

TOTAL_SECONDS = 10.0
CONNECT_SECONDS = 3.0
MOST_BYTES = 1 << 20
QUOTED = 512  # characters


class MetricsSource(Protocol):
    async def fetch_metrics(self, pod: PodView, /) -> str: ...


@dataclass(frozen=True, slots=True)
class ApiServerProxy:
    """Through the API server: works wherever the operator runs, and needs `get` on `pods/proxy`."""

    reader: Reader

    async def fetch_metrics(self, pod: PodView) -> str:
        ref = Ref(PODS, pod.namespace, pod.name)
        body = await self.reader.pod_proxy_get(ref, PORT_ENGINE_METRICS, "metrics", timeout=TOTAL_SECONDS)
        return body.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class PodAddress:
    """Straight from the pod. Addresses are reused, so no connection is kept and no redirect is followed."""

    async def fetch_metrics(self, pod: PodView) -> str:
        if not pod.ip:
            raise TransientError("the pod has no address yet")
        host = f"[{pod.ip}]" if ":" in pod.ip else pod.ip
        timeout = aiohttp.ClientTimeout(total=TOTAL_SECONDS, connect=CONNECT_SECONDS, sock_read=CONNECT_SECONDS)
        connector = aiohttp.TCPConnector(force_close=True)
        try:
            async with (
                aiohttp.ClientSession(connector=connector, timeout=timeout, trust_env=False) as session,
                session.get(f"http://{host}:{PORT_ENGINE_METRICS}/metrics", allow_redirects=False) as answer,
            ):
                body = (await whole_body(answer, MOST_BYTES)).decode(errors="replace")
                if answer.status != 200:
                    raise TransientError(f"HTTP {answer.status}: {body[:QUOTED]}")
                return body
        except (aiohttp.ClientError, TimeoutError) as err:
            raise TransientError(f"{type(err).__name__}: {err}") from err


def metrics_source(mode: ScrapeMode, reader: Reader) -> MetricsSource:
    return PodAddress() if mode is ScrapeMode.POD_IP else ApiServerProxy(reader)


async def fetch_activity(source: MetricsSource, pods: Sequence[PodView]) -> list[Activity | str]:
    """For each pod what it does, or why it could not be told."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_activity(source, pod), name=f"scrape {pod.name}") for pod in pods]
    return [task.result() for task in tasks]


async def _activity(source: MetricsSource, pod: PodView) -> Activity | str:
    try:
        async with asyncio.timeout(TOTAL_SECONDS):
            return parse_activity(await source.fetch_metrics(pod))
    except (OperatorError, ValueError, TimeoutError) as err:
        return str(err) or type(err).__name__
