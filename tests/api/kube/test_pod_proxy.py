"""Does a scrape through the API server bring back what the pod says, or why it says nothing?"""

import asyncio

import pytest

from firebolt_local.cluster.scrape import Behaviour, Mode, ScrapeControl
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.errors import TransientError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Ref
from tests.api.kube.objects import PODS
from tests.support.workloads import Pods, eventually

PORT = 9090


@pytest.fixture
def pod(scraped_pods: SimulatedPods, namespace: str) -> Ref:
    pods = Pods(scraped_pods.control_plane.http, namespace)
    pods.create("one")
    eventually(lambda: pods.is_ready("one"))
    return Ref(PODS, namespace, "one")


async def test_the_pods_own_words_come_back(client: KubeClient, pod: Ref, scrape: ScrapeControl) -> None:
    scrape.set(pod.namespace, pod.name, Behaviour(running=3))
    assert b"firebolt_running_queries 3" in await client.pod_proxy_get(pod, PORT, "/metrics")


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        pytest.param(Mode.ERROR, "HTTP 500: .*something broke", id="the-pod-fails"),
        pytest.param(Mode.REFUSE, "HTTP 503: .*proxy error", id="nobody-listens"),
    ],
)
async def test_what_is_not_an_answer_is_quoted(
    client: KubeClient, pod: Ref, scrape: ScrapeControl, mode: Mode, words: str
) -> None:
    scrape.set(pod.namespace, pod.name, Behaviour(mode=mode))
    with pytest.raises(TransientError, match=f"asking {pod} port {PORT} for /metrics: {words}"):
        await client.pod_proxy_get(pod, PORT, "/metrics")


async def test_a_black_hole_costs_its_own_deadline_only(client: KubeClient, pod: Ref, scrape: ScrapeControl) -> None:
    scrape.set(pod.namespace, pod.name, Behaviour(mode=Mode.BLACK_HOLE))
    async with asyncio.timeout(20):
        with pytest.raises(TransientError, match="the deadline passed"):
            await client.pod_proxy_get(pod, PORT, "/metrics", timeout=0.5)
