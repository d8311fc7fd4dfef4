"""Do alerts and dashboard leave the chart as they are in their files?"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.chart import CHART, names, only, refusal, rendered
from tests.support.promtool import promtool

RULES = CHART / "rules/firebolt.yaml"
DASHBOARD = CHART / "dashboards/firebolt.json"


def monitoring(**parts: dict[str, Any]) -> dict[str, Any]:
    return {"monitoring": {name: {"enabled": True, **values} for name, values in parts.items()}}


def test_nobody_gets_them_unasked() -> None:
    found = names(rendered({}))
    assert [name for name in found if name.startswith(("PrometheusRule", "ConfigMap"))] == []


def test_rules_are_those_of_the_file_and_prometheus_takes_them(tmp_path: Path) -> None:
    rule = only(rendered(monitoring(rules={"labels": {"release": "prometheus"}})), "PrometheusRule")
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    assert rule["spec"] == yaml.load(RULES.read_text(), yaml.CSafeLoader)
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(rule["spec"]))
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("base", ["https://example.com/runbooks", "https://example.com/runbooks/"])
def test_alerts_link_to_where_runbooks_are_published(base: str) -> None:
    rule = only(rendered(monitoring(rules={"runbookUrl": base})), "PrometheusRule")
    alerts = [alert for group in rule["spec"]["groups"] for alert in group["rules"]]
    links = {alert["alert"]: alert["annotations"]["runbook_url"] for alert in alerts}
    assert links == {name: f"https://example.com/runbooks/{name}.md" for name in links}


def test_the_dashboard_is_in_a_config_map_that_grafana_finds() -> None:
    values = monitoring(dashboard={"annotations": {"grafana_folder": "Firebolt"}})
    found = only(rendered(values), "ConfigMap")
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert found["metadata"]["annotations"] == {"grafana_folder": "Firebolt"}
    assert json.loads(found["data"]["firebolt.json"]) == json.loads(DASHBOARD.read_text())


def test_a_value_that_does_not_exist_is_refused() -> None:
    assert "runbookURL" in refusal(monitoring(rules={"runbookURL": "https://example.com"}))
