"""Do our CRDs know every field of a pod template that this API server knows?"""

from typing import Any

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.refs import Manifest
from scripts.pod_template_schema import OPENAPI_PATH, structural_pod_template
from tests.api.crds.conftest import Stored

REFERENCE = "#/components/schemas/"
SCALARS: Manifest = {"string": "x", "integer": 1, "boolean": True}


@pytest.fixture(scope="module")
def document(control_plane: ControlPlane) -> Manifest:
    return control_plane.http.get(OPENAPI_PATH)


def test_the_packaged_schema_is_what_this_api_server_says(document: Manifest) -> None:
    assert structural_pod_template(document) == pod_template_schema()


async def test_a_template_with_every_field_is_kept_whole(stored: Stored, document: Manifest) -> None:
    template = a_value(document["components"]["schemas"], "io.k8s.api.core.v1.PodTemplateSpec")
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
