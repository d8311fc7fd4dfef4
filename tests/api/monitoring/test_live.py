"""Does a real Prometheus that scrapes a real operator have an answer for every panel, and nothing to complain about?"""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import NoReturn

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.simulated_pods import SimulatedPods
from tests.api.monitoring.watched import Watched, panels, watched
from tests.support.chart import CHART
from tests.support.crds import install_crds

DASHBOARD = CHART.resolve() / "dashboards/firebolt.json"


@pytest.fixture
async def place(
    control_plane: ControlPlane,
    simulated_pods: SimulatedPods,  # noqa: ARG001 - for its effect
    namespace: str,
    tmp_path: Path,
) -> AsyncGenerator[Watched]:
    install_crds(control_plane.kubeconfig)
    async with watched(control_plane, namespace, tmp_path) as running:
        yield running


async def mistakes(place: Watched) -> NoReturn:
    while True:
        await place.make_a_mistake()
        await asyncio.sleep(1)


async def test_every_panel_has_data_and_no_alert_fires(place: Watched) -> None:
    await place.make_engines()
    await place.until(lambda: place.prometheus.healthy_jobs() == {"operator", "gateway"}, "both are scraped")
    # Only now: what grew before the first scrape has no rate.
    assert await place.wake() == "released"
    empty = dict[str, str]()

    def is_shown() -> bool:
        empty.clear()
        asked = [(title, query) for title, queries in panels(DASHBOARD).items() for query in queries]
        empty.update({title: query for title, query in asked if not place.answer(query)})
        return not empty

    async with asyncio.TaskGroup() as group:
        # Envoy never learns where it is: somebody waits all the while.
        held = group.create_task(place.agent.hold("unreached"), name="a held query")
        # A rate needs something that grows from one scrape to the next, whenever they come.
        mistaken = group.create_task(mistakes(place), name="mistakes")
        try:
            await place.until(is_shown, "every panel has data")
        except AssertionError as err:
            raise AssertionError(f"without data: {empty}") from err
        held.cancel()
        mistaken.cancel()
    for watches in ('job="gateway",resource="endpointslices"', 'job="operator",resource="webhook secrets"'):
        assert place.answer(f"firebolt_operator_watches_total{{{watches}}}") != []
    assert [name for name, state in place.prometheus.alerts().items() if state == "firing"] == []
    # What the scraper says of a target is its own: nothing had to be renamed.
    assert place.prometheus.query('{__name__=~"firebolt_.+",exported_instance!=""}') == []
