"""Do the models and the schemas that are made from them say the same?"""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from firebolt_operator.api.crds import KINDS
from firebolt_operator.api.engine import EngineSpec, EngineStatus
from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.api.instance import InstanceSpec, InstanceStatus
from firebolt_operator.api.model import Model
from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.api.schema import schema_of
from firebolt_operator.refs import Manifest

POD_FIELDS = """
    activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks
    ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets
    initContainers nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates
    resourceClaims resources restartPolicy runtimeClassName schedulerName schedulingGates schedulingGroup
    securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain
    terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes
"""
CONTAINER_FIELDS = """
    args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resizePolicy
    resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath
    terminationMessagePolicy tty volumeDevices volumeMounts workingDir
"""
ATOMIC_IN_CONTAINERS = ("command", "args", "envFrom", "resizePolicy")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (InstanceSpec, ["gateway", "metadata"]),
        (EngineSpec, ["instanceRef"]),
        (EngineClassSpec, ["template"]),
        (EngineStatus, ["activeGeneration", "currentGeneration"]),
        (InstanceStatus, None),
    ],
)
def test_required_fields(model: type[Model], expected: list[str] | None) -> None:
    assert schema_of(model).get("required") == expected


def test_given_auto_stop_then_enabled_is_required_although_it_has_a_default() -> None:
    auto_stop = schema_of(EngineSpec)["properties"]["autoStop"]
    assert auto_stop["required"] == ["activeReplicas", "enabled"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("drainTimeout", {"type": "string", "maxLength": 64}, id="a-duration-is-plain-text"),
        pytest.param(
            "replicas",
            {"type": "integer", "format": "int32", "minimum": 0, "maximum": 1000, "default": 1},
            id="a-number-with-bounds-and-a-default",
        ),
        pytest.param("rollout", {"type": "string", "enum": ["graceful", "recreate"]}, id="a-choice"),
        pytest.param(
            "customEngineConfig",
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            id="free-form",
        ),
    ],
)
def test_fields_of_engines(path: str, expected: Manifest) -> None:
    field = schema_of(EngineSpec)["properties"][path]
    assert {key: value for key, value in field.items() if key != "description"} == expected


def test_conditions_are_a_plain_list_of_whole_conditions() -> None:
    conditions = schema_of(InstanceStatus)["properties"]["conditions"]
    assert sorted(conditions) == ["description", "items", "type"]
    assert conditions["items"]["required"] == ["lastTransitionTime", "message", "reason", "status", "type"]


@pytest.mark.parametrize("model", [kind.model for kind in KINDS if kind.has_status])
def test_every_default_of_the_schema_is_the_default_of_the_model(model: type[Model]) -> None:
    declared = list(declared_defaults(inspect.type_info(model)))
    assert declared
    assert [(path, ours) for path, ours, _ in declared] == [(path, theirs) for path, _, theirs in declared]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.resource.kind)
def test_every_field_of_ours_is_described(kind: Any) -> None:
    schema = schema_of(kind.model)["properties"]
    parts = [part for part in ("spec", "status") if part in schema]
    assert [field for part in parts for field in undescribed(schema[part], part)] == []


def test_a_pod_template_is_an_open_metadata_and_a_spec_without_required_fields() -> None:
    template = pod_template_schema()
    assert sorted(template) == ["properties", "type"]
    assert template["properties"]["metadata"] == {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert sorted(template["properties"]["spec"]) == ["properties", "type"]


def test_a_pod_template_has_the_fields_of_kubernetes() -> None:
    pod = pod_template_schema()["properties"]["spec"]["properties"]
    assert sorted(pod) == sorted(POD_FIELDS.split())
    assert sorted(pod["containers"]["items"]["properties"]) == sorted(CONTAINER_FIELDS.split())


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        *[(name, ["name"]) for name in ("containers", "initContainers", "ephemeralContainers", "volumes")],
        *[(name, ["name"]) for name in ("imagePullSecrets", "resourceClaims", "schedulingGates", "containers/env")],
        ("containers/ports", ["containerPort", "protocol"]),
        ("containers/volumeMounts", ["mountPath"]),
        ("containers/volumeDevices", ["devicePath"]),
        ("hostAliases", ["ip"]),
        ("topologySpreadConstraints", ["topologyKey", "whenUnsatisfiable"]),
    ],
)
def test_lists_of_a_pod_template_that_are_merged_by_key(path: str, keys: list[str]) -> None:
    node = pod_field(path)
    assert (node["x-kubernetes-list-type"], node["x-kubernetes-list-map-keys"]) == ("map", keys)


@pytest.mark.parametrize(
    "path",
    [
        "tolerations",
        "readinessGates",
        *[f"containers/{name}" for name in ("command", "args", "envFrom", "resizePolicy")],
    ],
)
def test_lists_of_a_pod_template_that_are_replaced_whole(path: str) -> None:
    assert pod_field(path)["x-kubernetes-list-type"] == "atomic"


def test_only_reference_names_and_list_keys_of_a_pod_template_have_defaults() -> None:
    defaults = {(path.rpartition(".")[2], default) for path, default in all_defaults(pod_template_schema(), "")}
    assert defaults == {("name", ""), ("protocol", "TCP")}


def test_a_pod_template_has_no_enums_no_rules_and_no_descriptions() -> None:
    text = msgspec.json.encode(pod_template_schema())
    assert not [word for word in (b'"enum"', b'"x-kubernetes-validations"', b'"description"') if word in text]


def pod_field(path: str) -> Manifest:
    node: Manifest = pod_template_schema()["properties"]["spec"]
    for name in path.split("/"):
        node = node.get("items", node)["properties"][name]
    return node


def all_defaults(node: Manifest, path: str) -> Iterator[tuple[str, Any]]:
    if "default" in node:
        yield path, node["default"]
    for name, child in node.get("properties", {}).items():
        yield from all_defaults(child, f"{path}.{name}")
    if "items" in node:
        yield from all_defaults(node["items"], path)


def declared_defaults(node: inspect.Type) -> Iterator[tuple[str, Any, Any]]:
    """Every field with a default in the schema: its name, that default, and the model's own."""
    match node:
        case inspect.Metadata():
            yield from declared_defaults(node.type)
        case inspect.UnionType():
            for kind in node.types:
                yield from declared_defaults(kind)
        case inspect.ListType():
            yield from declared_defaults(node.item_type)
        case inspect.StructType():
            for field in node.fields:
                said = (field.type.extra_json_schema or {}) if isinstance(field.type, inspect.Metadata) else {}
                if "default" in said:
                    yield field.encode_name, said["default"], msgspec.to_builtins(model_default(field))
                yield from declared_defaults(field.type)
        case _:
            return


def model_default(field: inspect.Field) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def undescribed(node: Manifest, path: str) -> Iterator[str]:
    if "description" not in node:
        yield path
    if node.get("properties", {}).keys() == {"metadata", "spec"} and "template" in path:
        return
    for name, child in node.get("properties", {}).items():
        yield from undescribed(child, f"{path}.{name}")
    for name, child in node.get("items", {}).get("properties", {}).items():
        yield from undescribed(child, f"{path}[].{name}")
