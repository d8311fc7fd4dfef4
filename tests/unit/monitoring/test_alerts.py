"""Does every alert fire on its fault, and does none on a calm cluster? Asked of Prometheus' own promtool."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.promtool import promtool
from tests.unit.monitoring.calm import MINUTES, calm
from tests.unit.monitoring.faults import FAULTS, START, with_fault

ROOT = Path(__file__).parents[3]
RULES = ROOT / "charts/firebolt-operator/rules/firebolt.yaml"
RUNBOOKS = ROOT / "docs/runbooks"
HEADINGS = ("## What it means", "## Who is hurt", "## Look at", "## Do")
FIRING = 'count by (alertname) (ALERTS{alertstate="firing"})'


def alerts() -> dict[str, dict[str, Any]]:
    groups = yaml.load(RULES.read_text(), yaml.CSafeLoader)["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def a_test(name: str, series: Mapping[str, str], expected: Mapping[int, tuple[str, ...]]) -> dict[str, Any]:
    """Which alerts fire, by minute."""
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": each, "values": values} for each, values in series.items()],
        "promql_expr_test": [
            {
                "expr": FIRING,
                "eval_time": f"{minute}m",
                "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in sorted(firing)],
            }
            for minute, firing in expected.items()
        ],
    }


def run(folder: Path, tests: list[dict[str, Any]]) -> str:
    """What went wrong, in promtool's words; empty if nothing did."""
    document = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests}
    path = folder / "tests.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    done = promtool("test", "rules", path)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_rules_are_valid() -> None:
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_fires_on_a_calm_cluster_with_parked_and_rolling_engines(tmp_path: Path) -> None:
    silence = dict.fromkeys(range(0, MINUTES, 5), ())
    assert run(tmp_path, [a_test("calm", calm(), silence)]) == ""


def test_every_alert_has_a_fault() -> None:
    assert set(FAULTS) == set(alerts())


def test_every_alert_fires_on_its_fault_and_no_other_does(tmp_path: Path) -> None:
    tests = [
        a_test(alert, with_fault(calm(), fault), {START + fault.fires_after: (alert, *fault.also)})
        for alert, fault in FAULTS.items()
    ]
    assert run(tmp_path, tests) == ""


def test_this_would_notice_an_alert_that_is_silent_or_too_loud(tmp_path: Path) -> None:
    fault = FAULTS["FireboltInstanceFailed"]
    series, minute = with_fault(calm(), fault), START + fault.fires_after
    assert "FireboltInstanceFailed" in run(tmp_path, [a_test("loud", series, {minute: ()})])
    assert run(tmp_path, [a_test("silent", calm(), {minute: ("FireboltInstanceFailed",)})]) != ""


@pytest.mark.parametrize("alert", sorted(alerts()))
def test_every_alert_has_words_for_people_and_a_runbook(alert: str) -> None:
    rule = alerts()[alert]
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
    assert rule["annotations"]["runbook_url"] == f"docs/runbooks/{alert}.md"
    text = (RUNBOOKS / f"{alert}.md").read_text()
    assert text.startswith(f"# {alert}\n")
    assert [line for line in text.splitlines() if line.startswith("## ")] == list(HEADINGS)


def test_every_runbook_belongs_to_an_alert() -> None:
    assert {path.stem for path in RUNBOOKS.glob("*.md")} - {"README"} == set(alerts())
    index = (RUNBOOKS / "README.md").read_text()
    assert set(re.findall(r"\((\w+)\.md\)", index)) == set(alerts())
