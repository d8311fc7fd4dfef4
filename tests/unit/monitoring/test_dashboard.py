"""Is the dashboard the one of its panels, do all of its queries parse, and does the program have what they ask for?"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from prometheus_client import CollectorRegistry

from firebolt_operator.engine.observe.metrics import EngineMetrics
from firebolt_operator.instance.observe.metrics import InstanceMetrics
from firebolt_operator.observability.cache_metrics import CacheMetrics
from firebolt_operator.observability.controller_metrics import ControllerMetrics, WorkQueueMetrics
from firebolt_operator.observability.metrics import EventMetrics, LeaderMetrics, LoopMetrics, Metrics, RequestMetrics
from firebolt_operator.observability.server_metrics import CertificateMetrics, WebhookMetrics
from firebolt_operator.wake.metrics import WakeMetrics
from scripts import write_dashboard
from scripts.dashboard_panels import ROWS
from tests.support.manual_clock import ManualClock
from tests.support.promtool import promtool
from tests.support.wake import LEVELS
from tests.unit.monitoring.test_alerts import RULES

VARIABLES = {"$namespace": ".*", "$__rate_interval": "5m"}
NAME = re.compile(r"\b(?:firebolt|controller_runtime|workqueue|leader_election|process)_[a-z_]+")


def queries() -> list[str]:
    found = [query for panels in ROWS.values() for panel in panels for query in panel.queries.values()]
    for variable, value in VARIABLES.items():
        found = [query.replace(variable, value) for query in found]
    return found


def families(registry: CollectorRegistry) -> Iterator[str]:
    for family in registry.collect():
        suffixes = {"histogram": ("_bucket", "_count", "_sum"), "counter": ("_total",)}.get(family.type, ("",))
        yield from (family.name + suffix for suffix in suffixes)


async def known_series() -> set[str]:
    """What the operator and the wake agent have, whether or not anything of it has happened yet."""
    operator, agent = Metrics(), Metrics()
    EngineMetrics(operator.registry)
    InstanceMetrics(operator.registry, ManualClock())
    for make in (CacheMetrics, ControllerMetrics, WorkQueueMetrics, EventMetrics, LoopMetrics, CertificateMetrics):
        make(operator)
    RequestMetrics(operator, "host")
    LeaderMetrics(operator, "lease")
    WebhookMetrics(operator, {})
    WakeMetrics(agent, LEVELS)
    for metrics in (operator, agent):
        await metrics.render()
    return {name for metrics in (operator, agent) for name in families(metrics.registry)}


def test_the_dashboard_is_that_of_its_panels() -> None:
    assert write_dashboard.TARGET.read_text() == write_dashboard.text(), "run make dashboard"


def test_panels_do_not_overlap_and_have_an_identity() -> None:
    panels: list[dict[str, Any]] = json.loads(write_dashboard.text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24


def test_every_query_parses(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{number}", "expr": query} for number, query in enumerate(queries())]
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    done = promtool("check", "rules", "--lint=none", path)
    assert done.returncode == 0, done.stdout + done.stderr


async def test_what_panels_and_alerts_ask_for_exists() -> None:
    asked = {name for text in (*queries(), RULES.read_text()) for name in NAME.findall(text)}
    foreign = {name for name in asked if name.startswith("process_")}
    assert sorted(asked - foreign - await known_series()) == []
