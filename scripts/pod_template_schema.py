"""Which fields does a pod template have? Asks the API server we test against, and writes the answer as package data.

Run it after a new Kubernetes version: `python scripts/pod_template_schema.py`. The result is the part of our CRDs that
describes embedded pod templates: structural, and without descriptions, since it appears in them four times.
"""

import json
import tempfile
from pathlib import Path

from firebolt_local.cluster.control_plane import ControlPlane, Options
from firebolt_local.programs import provision
from firebolt_operator.api.model import QUANTITY_SCHEMA
from firebolt_operator.refs import Manifest

OPENAPI_PATH = "/openapi/v3/api/v1"
TARGET = Path(__file__).parents[1] / "src/firebolt_operator/api/pod_template.json"

_ROOT = "io.k8s.api.core.v1.PodTemplateSpec"
# The API server prunes what a schema does not declare; labels that vanish would make GitOps tools apply for ever.
_OPEN_OBJECT: Manifest = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_REPLACED: dict[str, Manifest] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": QUANTITY_SCHEMA,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "x-kubernetes-int-or-string": True,
    },
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": _OPEN_OBJECT,
}
# Enums stay out: a newer API server may know more words, and it has the last one anyway.
_COPIED = ("type", "format", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type")


def structural_pod_template(document: Manifest) -> Manifest:
    """The pod template of an OpenAPI v3 document as a structural schema that CRDs accept."""
    template = _structural({"$ref": f"#/components/schemas/{_ROOT}"}, document["components"]["schemas"])
    # Templates are fragments: the operator adds the container that every pod needs.
    template["properties"]["spec"].pop("required")
    return template


def _structural(node: Manifest, schemas: Manifest) -> Manifest:
    name = _referenced(node)
    if name in _REPLACED:
        return _REPLACED[name]
    if name:
        return _structural(schemas[name], schemas)
    result = {keyword: node[keyword] for keyword in _COPIED if keyword in node}
    for keyword in ("items", "additionalProperties"):
        if keyword in node:
            result[keyword] = _structural(node[keyword], schemas)
    if "properties" in node:
        result |= _properties(node, schemas)
    if "x-kubernetes-list-map-keys" in node:
        _fill_in_keys(result, schemas[_referenced(node["items"])])
    return result


def _properties(node: Manifest, schemas: Manifest) -> Manifest:
    required = node.get("required", [])
    properties = {name: _structural(child, schemas) for name, child in sorted(node["properties"].items())}
    if "name" in properties and "name" not in required and node["properties"]["name"].get("default") == "":
        properties["name"]["default"] = ""
    return {"properties": properties} | ({"required": sorted(required)} if required else {})


def _fill_in_keys(result: Manifest, item: Manifest) -> None:
    """A list finds its entries by these properties, so they need a value even when nobody gives one."""
    for key in result["x-kubernetes-list-map-keys"]:
        if key not in item.get("required", []):
            result["items"]["properties"][key]["default"] = item["properties"][key]["default"]


def _referenced(node: Manifest) -> str:
    """The schema that a node stands for; some are wrapped in an allOf of one."""
    target = node.get("allOf", [node])[0]
    return str(target.get("$ref", "")).rpartition("/")[2]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = Options(folder=Path(folder), controllers=(), scheduler=False)
        plane = ControlPlane(options, provision.provide(provision.CONTROL_PLANE)).start()
        try:
            schema = structural_pod_template(plane.http.get(OPENAPI_PATH))
        finally:
            plane.stop()
    TARGET.write_text(json.dumps(schema, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
