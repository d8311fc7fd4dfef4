"""Does the chart install what the repository says elsewhere?"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from firebolt_local.images import operator_image
from firebolt_operator.api.crds import crd_files
from firebolt_operator.api.names import LEASE_NAME
from firebolt_operator.flags import parse_flags
from firebolt_operator.settings import FLAGS
from firebolt_operator.version import SOURCE_TREE
from scripts.write_crds import targets

REPOSITORY = Path(__file__).parents[3]
CHART = REPOSITORY / "charts/firebolt-operator"
CRDS_CHART = REPOSITORY / "charts/firebolt-operator-crds"


@pytest.mark.parametrize("folder", targets(), ids=lambda folder: str(folder.relative_to(REPOSITORY)))
def test_every_copy_of_the_definitions_is_the_generated_one_and_there_is_no_other(folder: Path) -> None:
    stored = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert stored == targets()[folder], "run make crds"


def test_helm_keeps_the_definitions_of_their_own_chart_and_finds_nothing_to_fill_in() -> None:
    generated = crd_files()
    for path in (CRDS_CHART / "templates").iterdir():
        definition = yaml.load(path.read_text(), yaml.CSafeLoader)
        assert definition["metadata"].pop("annotations") == {"helm.sh/resource-policy": "keep"}
        assert definition == yaml.load(generated[path.name], yaml.CSafeLoader)
        assert "{{" not in path.read_text()


def test_both_charts_are_of_one_version() -> None:
    chart, crds = (yaml.load((folder / "Chart.yaml").read_text(), yaml.CSafeLoader) for folder in (CHART, CRDS_CHART))
    assert {key: chart[key] for key in ("version", "appVersion", "kubeVersion")} == {
        key: crds[key] for key in ("version", "appVersion", "kubeVersion")
    }


def test_the_admission_policy_of_the_chart_is_the_one_in_config() -> None:
    theirs = REPOSITORY / "config/admission/gateway-wake.yaml"
    assert (CHART / "files/gateway-wake.yaml").read_text() == theirs.read_text()


def test_the_chart_installs_the_operator_that_is_here() -> None:
    chart = yaml.load((CHART / "Chart.yaml").read_text(), yaml.CSafeLoader)
    values = yaml.load((CHART / "values.yaml").read_text(), yaml.CSafeLoader)
    assert chart["appVersion"] == f"v{SOURCE_TREE}"
    assert f"{values['image']['repository']}:{chart['appVersion']}" == operator_image.REFERENCE


def test_every_default_image_of_the_chart_is_a_flag_of_the_operator() -> None:
    values = yaml.load((CHART / "values.yaml").read_text(), yaml.CSafeLoader)
    known = parse_flags((), FLAGS, {})
    assert [component for component in values["defaultImages"] if f"{component}-image" not in known] == []


def test_no_rule_is_a_wildcard_or_writes_to_pods() -> None:
    rules = yaml.load((CHART / "files/manager-rules.yaml").read_text(), yaml.CSafeLoader)
    words = {word for rule in rules for key in ("apiGroups", "resources", "verbs") for word in rule[key]}
    assert "*" not in words
    assert {"nodes", "namespaces", "clusterroles", "pods/exec", "pods/proxy", "escalate", "bind"} & words == set()
    assert [rule["verbs"] for rule in rules if "pods" in rule["resources"]] == [["delete", "list", "watch"]]


def test_the_operator_has_no_right_that_it_has_no_use_for() -> None:
    rules = yaml.load((CHART / "files/manager-rules.yaml").read_text(), yaml.CSafeLoader)
    granted = {(verb, resource) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]}
    assert ("update", "secrets") not in granted
    assert [
        verb for verb, resource in granted if resource.startswith("firebolt") and verb in {"create", "delete"}
    ] == []
    # Everything but a status is written by apply or patch.
    assert {resource.partition("/")[2] for verb, resource in granted if verb == "update"} == {"status", "finalizers"}


def test_every_right_is_explained() -> None:
    rules = yaml.load((CHART / "files/manager-rules.yaml").read_text(), yaml.CSafeLoader)
    rules += yaml.load((CHART / "files/proxy-rules.yaml").read_text(), yaml.CSafeLoader)
    page = (REPOSITORY / "docs/security.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("|")]
    for rule in rules:
        for resource in rule["resources"]:
            # Our own kinds share one row.
            name = "our kinds of a namespace" if resource.startswith("firebolt") else f"`{resource}`"
            (verbs,) = (row.split("|")[2] for row in rows if name in row.split("|")[1])
            assert [verb for verb in rule["verbs"] if verb not in verbs] == [], resource


def test_the_operator_may_change_its_own_lease_and_no_other() -> None:
    assert f"resourceNames: [{LEASE_NAME}]" in (CHART / "templates/leader-election.yaml").read_text()


def test_every_value_is_explained() -> None:
    values = yaml.load((CHART / "values.yaml").read_text(), yaml.CSafeLoader)
    page = (REPOSITORY / "docs/install.md").read_text()
    assert [name for name in values if f"`{name}" not in page] == []


def test_every_value_has_a_schema_and_nothing_else_is_accepted() -> None:
    values = yaml.load((CHART / "values.yaml").read_text(), yaml.CSafeLoader)
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert set(schema["properties"]) == {*values, "global"}  # Helm's own, where the chart is part of another
    assert schema["additionalProperties"] is False


PASSED_ON = {"podSecurityContext", "resources", "affinity", "global"}
"""Shapes of Kubernetes, which may grow without us."""


def test_no_part_of_ours_takes_what_it_does_not_know() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert [path for path, part in _objects(schema, "") if "additionalProperties" not in part] == []


def _objects(part: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if part.get("type") == "object":
        yield path, part
    for name, inner in part.get("properties", {}).items():
        if name not in PASSED_ON:
            yield from _objects(inner, f"{path}.{name}")
