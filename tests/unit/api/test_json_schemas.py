"""Do the schemas for editors say of a manifest what the API server would, and of a misspelt field more?"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from firebolt_operator.api.json_schemas import json_schema_files
from firebolt_operator.refs import Manifest
from tests.support.docs_blocks import REPOSITORY
from tests.support.structural import problems

SCHEMAS: Final[dict[str, Manifest]] = {
    schema["properties"]["kind"]["enum"][0]: schema for schema in map(json.loads, json_schema_files().values())
}
EXAMPLES: Final = [
    pytest.param(document, id=f"{path.name}-{document['kind']}")
    for path in sorted(REPOSITORY.glob("examples/*.yaml"))
    for document in yaml.load_all(path.read_text(), yaml.CSafeLoader)
    if document["apiVersion"].startswith("compute.firebolt.io/")
]
KEYWORDS: Final = {
    *("$schema", "type", "description", "default", "enum", "properties", "required", "items", "additionalProperties"),
    *("pattern", "format", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxProperties", "anyOf"),
}


def test_the_page_names_every_file() -> None:
    page = (REPOSITORY / "docs/reference/schemas.md").read_text()
    assert set(re.findall(r"^\| `\w+` \| `config/schemas/(\S+)` \|", page, re.MULTILINE)) == set(json_schema_files())


@pytest.mark.parametrize("document", EXAMPLES)
def test_every_example_is_right(document: Manifest) -> None:
    assert list(problems(document, SCHEMAS[document["kind"]])) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({"spec": {"instanceRef": "demo", "replcas": 2}}, ".spec.replcas: unknown field", id="misspelt"),
        pytest.param({"spec": {"replicas": 2}}, ".spec.instanceRef: required", id="missing"),
        pytest.param({"spce": {}}, ".spce: unknown field", id="misspelt-at-the-top"),
        pytest.param({"apiVersion": "v1"}, ".apiVersion: 'v1' is none of ['compute.firebolt.io/v1alpha1']", id="old"),
        pytest.param(
            {"spec": {"instanceRef": "demo", "template": {"spec": {"nodeSelectr": {}}}}},
            ".spec.template.spec.nodeSelectr: unknown field",
            id="misspelt-in-a-pod",
        ),
    ],
)
def test_what_is_wrong_is_found(change: Manifest, expected: str) -> None:
    engine = {
        "apiVersion": "compute.firebolt.io/v1alpha1",
        "kind": "FireboltEngine",
        "metadata": {"name": "analytics"},
        "spec": {"instanceRef": "demo"},
    }
    assert list(problems(engine, SCHEMAS["FireboltEngine"])) == []
    assert list(problems(engine | change, SCHEMAS["FireboltEngine"])) == [expected]


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_schema_has_only_what_every_validator_knows(kind: str) -> None:
    assert set(_keywords(SCHEMAS[kind])) <= KEYWORDS
    assert SCHEMAS[kind]["$schema"] == "http://json-schema.org/draft-07/schema#"


def _keywords(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema
        for inner in (*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")):
            yield from _keywords(inner)
