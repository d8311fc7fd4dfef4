"""Do alerts fire on what really happens to real pods, and are they silent once it is over?"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager

import pytest

from firebolt_local.testing.installer import NAMESPACE as OPERATORS
from firebolt_local.testing.installer import RELEASE
from firebolt_operator.api.resources import PODS
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest
from tests.e2e.environment import INSTANCE, Environment
from tests.e2e.killing import process_of
from tests.e2e.scenario import Scenario
from tests.e2e.watching import Watching, watching

PARKED = {"enabled": True, "activeReplicas": 1, "idleTimeout": "1h"}
NO_IMAGE: Manifest = {"spec": {"containers": [{"name": "engine", "image": "nowhere.invalid/engine:none"}]}}
CALM_SECONDS = 30


@pytest.fixture(scope="module")
def watch(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Generator[Watching]:
    with watching(environment, tmp_path_factory.mktemp("prometheus")) as running:
        yield running


@asynccontextmanager
async def frozen(scenario: Scenario, labels: str, container: str) -> AsyncGenerator[None]:
    """All containers of that name stop in the middle of whatever they do, and go on afterwards."""
    pods = await scenario.client.list(Scope(resource=PODS, namespace=scenario.namespace, labels=labels))
    cluster = scenario.environment.cluster
    records = [await asyncio.to_thread(process_of, cluster, pod, container) for pod in pods]
    assert records
    for record in records:
        os.kill(record.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for record in records:
            if record.is_alive():
                os.kill(record.pid, signal.SIGCONT)


async def test_given_engines_that_run_and_are_parked_then_nothing_fires(scenario: Scenario, watch: Watching) -> None:
    await scenario.make_resting_engine("calm", replicas=1)
    await scenario.make_resting_engine("parked", replicas=0, autoStop=PARKED)
    await watch.until_told('firebolt_engine_status_phase{name="calm",phase="stable"} == 1')
    await watch.until_told('firebolt_engine_status_phase{name="parked",phase="stopped"} == 1')
    await watch.until_calm()
    found = set[str]()
    for _ in range(CALM_SECONDS):
        found |= set(await asyncio.to_thread(watch.prometheus.alerts))
        await asyncio.sleep(1)
    assert found == set()


async def test_given_a_query_for_a_parked_engine_then_prometheus_knows_how_long_waking_took(
    scenario: Scenario, watch: Watching
) -> None:
    await scenario.make_resting_engine("asleep", replicas=0, autoStop=PARKED)
    await watch.until_scraped()
    seconds_before, wakes_before = await asyncio.to_thread(_wakes, watch)
    began_at = time.monotonic()
    assert (await scenario.ask("asleep")).is_good
    took = time.monotonic() - began_at
    async with asyncio.timeout(120):
        while True:
            seconds, wakes = await asyncio.to_thread(_wakes, watch)
            if wakes > wakes_before:
                break
            await asyncio.sleep(1)
    assert wakes == wakes_before + 1
    assert 0 < seconds - seconds_before <= took


def _wakes(watch: Watching) -> tuple[float, float]:
    """How long all of them took, and how many there were: counted, since an increase is an estimate, and asked at once,
    since both belong to one scrape.
    """
    latency = "firebolt_gateway_wake_latency_seconds"
    told = watch.prometheus.query(f'sum by (__name__) ({{__name__=~"{latency}_(sum|count)"}})')
    totals = {line.labels["__name__"]: line.points[0][1] for line in told}
    return totals.get(f"{latency}_sum", 0.0), totals.get(f"{latency}_count", 0.0)


async def test_given_engine_processes_that_hang_then_the_engine_is_down(scenario: Scenario, watch: Watching) -> None:
    await scenario.make_resting_engine("frozen", replicas=2)
    async with frozen(scenario, "firebolt.io/engine=frozen", "engine"):
        await watch.until_firing("FireboltEngineDown", "FireboltEngineNotReady")
    await scenario.at_rest("frozen", 2)
    await watch.until_silent("FireboltEngineDown", "FireboltEngineNotReady")


async def test_given_a_rollout_that_cannot_come_up_then_it_is_told_and_silent_after_the_way_back(
    scenario: Scenario, watch: Watching
) -> None:
    await scenario.make_resting_engine("stuck", replicas=1, progressDeadline="10s")
    await scenario.edit("stuck", template=NO_IMAGE)
    await watch.until_firing("FireboltEngineNotReady", "FireboltEngineStalled")
    edited = await scenario.edit("stuck", template=None)
    await scenario.at_rest("stuck", 1, since=edited)
    await watch.until_silent("FireboltEngineNotReady", "FireboltEngineStalled")


async def test_given_a_query_that_goes_on_then_its_generation_drains_for_too_long(
    scenario: Scenario, watch: Watching
) -> None:
    await scenario.make_resting_engine("long", replicas=1)
    async with asyncio.TaskGroup() as group:
        query = group.create_task(scenario.ask("long", "SELECT sleep(45)"), name="long query")
        await asyncio.sleep(1)
        edited = await scenario.edit("long", template={"metadata": {"labels": {"rolled": "yes"}}})
        await watch.until_firing("FireboltEngineDrainStuck")
    assert query.result().is_good
    await scenario.at_rest("long", 1, since=edited)
    await watch.until_silent("FireboltEngineDrainStuck")


@pytest.mark.parametrize(
    ("component", "container", "alert"),
    [("gateway", "envoy", "FireboltGatewayDown"), ("metadata", "metadata", "FireboltMetadataDown")],
)
async def test_given_a_component_that_hangs_then_it_is_down(
    scenario: Scenario, watch: Watching, component: str, container: str, alert: str
) -> None:
    labels = f"firebolt.io/instance={INSTANCE},firebolt.io/component={component}"
    async with frozen(scenario, labels, container):
        await watch.until_firing(alert)
    await asyncio.to_thread(scenario.environment.wait_for_instance, scenario.namespace)
    await watch.until_silent(alert)


async def test_given_no_operator_then_that_is_told_and_over_when_it_is_back(
    scenario: Scenario, watch: Watching
) -> None:
    deployment, where = f"deployment/{RELEASE}", f"--namespace={OPERATORS}"
    kubectl = scenario.environment.kubectl
    await asyncio.to_thread(kubectl, "scale", deployment, "--replicas=0", where)
    try:
        await watch.until_firing("FireboltOperatorDown", seconds=400)
    finally:
        await asyncio.to_thread(kubectl, "scale", deployment, "--replicas=1", where)
        await asyncio.to_thread(kubectl, "rollout", "status", deployment, where, "--timeout=180s")
    await watch.until_silent("FireboltOperatorDown")
