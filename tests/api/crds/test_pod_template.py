"""Do our CRDs know every field of a pod template that this API server knows?"""

from typing import Any

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.programs import provision
from firebolt_local.programs.recipes import NEWEST
from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.refs import Manifest
from scripts.pod_template_schema import OPENAPI_PATH, structural_pod_template
from tests.api.crds.conftest import Stored

REFERENCE = "#/components/schemas/"
GONE = {"1.35": {"workloadRef"}}
"""Fields behind an alpha gate of an older release that the newest has dropped, and our definitions with it."""
SCALARS: Manifest = {"string": "x", "integer": 1, "boolean": True}


@pytest.fixture(scope="module")
def document(control_plane: ControlPlane) -> Manifest:
    return control_plane.http.get(OPENAPI_PATH)


@pytest.fixture(scope="module")
def gone() -> set[str]:
    return GONE.get(provision.chosen_kubernetes(), set[str]())


def test_the_packaged_schema_is_what_the_newest_api_server_says_and_no_other_knows_more(
    document: Manifest, gone: set[str]
) -> None:
    said = structural_pod_template(document)
    if provision.chosen_kubernetes() == NEWEST:
        assert said == pod_template_schema()
    known = said["properties"]["spec"]["properties"]
    assert set(known) - set(pod_template_schema()["properties"]["spec"]["properties"]) == gone


async def test_a_template_with_every_field_is_kept_whole(stored: Stored, document: Manifest, gone: set[str]) -> None:
    template = a_value(document["components"]["schemas"], "io.k8s.api.core.v1.PodTemplateSpec")
    for field in gone:
        del template["spec"][field]
    made = await stored.create(FIREBOLT_ENGINES, {"instanceRef": "main", "replicas": 1, "template": template})
    assert made["spec"]["template"] == template


def a_value(schemas: Manifest, name: str) -> Any:
    """One value for a schema with every property set, made from the server's document alone."""

    def build(node: Manifest) -> Any:
        node = node.get("allOf", [node])[0]
        if "$ref" in node:
            return build(schemas[node["$ref"].removeprefix(REFERENCE)])
        if "oneOf" in node:
            return "1"
        match str(node["type"]):
            case "object" if "properties" in node:
                return {key: build(child) for key, child in node["properties"].items()}
            case "object":
                return {"key": build(node["additionalProperties"])} if "additionalProperties" in node else {}
            case "array":
                return [build(node["items"])]
            case scalar:
                return SCALARS[scalar]

    return build(schemas[name])
