"""An event that is lost fails nothing, and is counted."""

from collections.abc import AsyncGenerator

import pytest
from prometheus_client import CollectorRegistry

from firebolt_operator.engine.observe.diagnosis import EventLookup
from firebolt_operator.engine.observe.metrics import EngineMetrics
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Warn
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.settings import parse_settings
from firebolt_operator.wiring.factory import ControllerFactory
from tests.support.engines import NOON, a_generation, some_facts
from tests.support.series import series_with
from tests.unit.kube.wire import SETTINGS, WireServer, a_client, answer, status

REFUSED = answer(403, status(403, "Forbidden", "no"))
ROLLING = Verdict(status="False", reason="Rolling", message="Engine is in creating phase")


@pytest.fixture
async def refused_client() -> AsyncGenerator[KubeClient]:
    async with WireServer(REFUSED) as server, a_client(server.url) as client:
        yield client


async def test_given_an_event_that_cannot_be_sent_then_it_is_counted_for_its_controller(
    refused_client: KubeClient,
) -> None:
    metrics = Metrics()
    factory = ControllerFactory(
        settings=parse_settings([], {}),
        bounds=ResourceBounds(),
        client=refused_client,
        clock=SystemClock(),
        metrics=metrics,
        identity="test",
    )
    warning = Warn(reason="Odd", action="Look", note="something is odd")
    await factory.events("fireboltengine").warn(SETTINGS, "uid", warning, now=NOON)
    assert series_with(metrics.registry, "events_lost_total{") == [
        'firebolt_operator_events_lost_total{controller="fireboltengine"} 1.0'
    ]


async def test_given_events_that_cannot_be_looked_up_then_that_is_counted_and_the_verdict_stays(
    refused_client: KubeClient,
) -> None:
    registry = CollectorRegistry()
    lookup = EventLookup(refused_client, EngineMetrics(registry))
    facts = some_facts(current=a_generation(0, total=0))
    assert await lookup.diagnose(ROLLING, facts, 2, NOON) is ROLLING
    assert "firebolt_engine_event_lookup_errors_total 1.0" in series_with(registry, "lookup_errors_total")
