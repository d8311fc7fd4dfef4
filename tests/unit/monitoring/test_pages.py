"""Do the pages name every metric, and none that does not exist? Are their queries PromQL?"""

import re
from pathlib import Path

import pytest
import yaml

from tests.support.promtool import promtool
from tests.unit.monitoring.test_alerts import ROOT, RUNBOOKS
from tests.unit.monitoring.test_dashboard import known_series

MONITORING = ROOT / "docs/monitoring.md"
OPERATIONS = ROOT / "docs/operations.md"
LANGUAGE = ("process_", "python_")
NAME = re.compile(
    r"`((?:firebolt|controller_runtime|workqueue|leader_election|certwatcher|rest_client|process|python)_[a-z_]+)`"
)


async def test_every_metric_is_explained_and_none_is_made_up() -> None:
    series = {name for name in await known_series() if not name.startswith(LANGUAGE)}
    histograms = {name.removesuffix("_bucket") for name in series if name.endswith("_bucket")}
    real = {
        name
        for name in series
        if name.removesuffix("_count").removesuffix("_sum").removesuffix("_bucket") not in histograms
    }
    found = set(NAME.findall(MONITORING.read_text())) - {"firebolt_io_instance"}  # a label
    told = {name for name in found if not name.startswith(LANGUAGE)}
    assert sorted(told ^ (real | histograms)) == []


def test_queries_of_the_operations_page_are_promql(tmp_path: Path) -> None:
    section = OPERATIONS.read_text().partition("## What to watch")[2].partition("\n## ")[0]
    queries = re.findall(r"^\| [^|]+ \| `(.+)` \|$", section, re.MULTILINE)
    assert len(queries) >= 5
    rules = [{"alert": f"Query{number}", "expr": query} for number, query in enumerate(queries)]
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "page", "rules": rules}]}))
    done = promtool("check", "rules", path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", [MONITORING, OPERATIONS, *sorted(RUNBOOKS.glob("*.md"))], ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_what_runbooks_look_for_in_logs_is_what_is_logged() -> None:
    texts = "".join(path.read_text() for path in (ROOT / "src/firebolt_operator").rglob("*.py"))
    commands = re.findall(
        r"logs .*\| grep (?:-\w+ )?'([^']+)'", "".join(each.read_text() for each in RUNBOOKS.glob("*.md"))
    )
    words = {word for command in commands for word in command.split("|") if not re.search(r"[\[(\"]", word)}
    assert len(words) > 8
    assert sorted(word for word in words if word not in texts) == []


def test_the_configuration_of_the_page_is_one_that_prometheus_takes(tmp_path: Path) -> None:
    (config,) = re.findall(r"^```yaml\n(rule_files:.*?)^```", MONITORING.read_text(), re.MULTILINE | re.DOTALL)
    document = yaml.load(config, yaml.CSafeLoader)
    for job in document["scrape_configs"]:
        assert job.pop("kubernetes_sd_configs")  # Debian's Prometheus is built without it
    path = tmp_path / "prometheus.yml"
    path.write_text(yaml.safe_dump(document))
    done = promtool("check", "config", "--syntax-only", path)
    assert done.returncode == 0, done.stdout + done.stderr
