"""Three layers of one pod template: operator defaults, class, engine."""

import copy
from typing import Any

import pytest

from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.engine.render.template import (
    COMPOSED_POD_FIELDS,
    OWNED_CONTAINER_FIELDS,
    OWNED_POD_FIELDS,
    effective_template,
)
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import engine_inputs, with_template

POD_SCHEMA = pod_template_schema()["properties"]["spec"]
CONTAINER_SCHEMA = POD_SCHEMA["properties"]["containers"]["items"]


def a_value(schema: Manifest, mark: str) -> Any:
    """Some value of the schema's type, told apart by its mark."""
    match schema.get("type"):
        case "array":
            return [a_value(schema["items"], mark)]
        case "object" if "properties" in schema:
            name, inner = next(iter(schema["properties"].items()))
            return {name: a_value(inner, mark)}
        case "object":
            return {f"key-{mark}": "1"}
        case "boolean":
            return mark == "engine"
        case "integer":
            return len(mark)
        case _:
            return mark


def pod_of(spec: Manifest | None, of_class: Manifest | None = None) -> Manifest:
    pod: Manifest = engine_statefulset(engine_inputs(spec, of_class), 0)["spec"]["template"]["spec"]
    return pod


@pytest.mark.parametrize("field", sorted(POD_SCHEMA["properties"].keys() - OWNED_POD_FIELDS - COMPOSED_POD_FIELDS))
def test_given_any_pod_field_that_is_not_owned_then_it_reaches_the_pod(field: str) -> None:
    schema = POD_SCHEMA["properties"][field]
    own, inherited = a_value(schema, "engine"), a_value(schema, "class")
    assert pod_of(with_template({field: own}))[field] == own
    assert pod_of(None, with_template({field: inherited}))[field] == inherited
    merged = pod_of(with_template({field: own}), with_template({field: inherited}))[field]
    both = {**inherited, **own} if field == "nodeSelector" else own
    assert merged == ([*inherited, *own] if schema["type"] == "array" else both)


@pytest.mark.parametrize("field", sorted(CONTAINER_SCHEMA["properties"].keys() - OWNED_CONTAINER_FIELDS))
def test_given_any_field_of_the_engine_container_that_is_not_owned_then_it_reaches_the_container(field: str) -> None:
    schema = CONTAINER_SCHEMA["properties"][field]
    own, inherited = a_value(schema, "engine"), a_value(schema, "class")

    def rendered(spec: Manifest | None, of_class: Manifest | None = None) -> Any:
        value = pod_of(spec, of_class)["containers"][0][field]
        operators = {"env": 2, "volumeMounts": 3}.get(field, 0)
        return value[operators:] if operators else value

    assert rendered(with_template(engine={field: own})) == own
    assert rendered(None, with_template(engine={field: inherited})) == inherited
    merged = rendered(with_template(engine={field: own}), with_template(engine={field: inherited}))
    assert merged == ([*inherited, *own] if schema["type"] == "array" else own)


@pytest.mark.parametrize("field", sorted(OWNED_POD_FIELDS))
def test_given_an_owned_pod_field_then_no_user_value_is_rendered(field: str) -> None:
    value = a_value(POD_SCHEMA["properties"][field], "engine")
    assert pod_of(with_template({field: value})) == pod_of(None)


@pytest.mark.parametrize("field", sorted(OWNED_CONTAINER_FIELDS - {"name"}))
def test_given_an_owned_field_of_the_engine_container_then_no_user_value_is_rendered(field: str) -> None:
    value = a_value(CONTAINER_SCHEMA["properties"][field], "engine")
    assert pod_of(with_template(engine={field: value})) == pod_of(None)


def test_what_the_operator_puts_together_is_in_its_own_place_only() -> None:
    """Whoever renders need not know which fields to leave out."""
    composed = {"volumes": [{"name": "v"}], "initContainers": [{"name": "i"}], "securityContext": {"runAsUser": 1}}
    template = effective_template(engine_inputs(with_template(composed, engine={"workingDir": "/w"})))
    assert (template.pod, template.engine) == ({}, {"workingDir": "/w"})
    assert (template.volumes, template.init_containers) == (composed["volumes"], composed["initContainers"])


def test_given_labels_and_annotations_in_both_layers_then_the_engine_wins_and_the_operator_over_all() -> None:
    of_class = {
        "template": {
            "metadata": {
                "labels": {"a": "class", "b": "class", "firebolt.io/generation": "99"},
                "annotations": {"x": "class"},
            }
        }
    }
    spec = {
        "template": {"metadata": {"labels": {"b": "engine", "firebolt.io/engine": "evil"}, "annotations": {"y": ""}}}
    }
    metadata = engine_statefulset(engine_inputs(spec, of_class), 3)["spec"]["template"]["metadata"]
    assert metadata == {
        "labels": {"a": "class", "b": "engine", "firebolt.io/engine": "sales", "firebolt.io/generation": "3"},
        "annotations": {"x": "class", "y": ""},
    }


@pytest.mark.parametrize(
    "template",
    [
        None,
        {},
        {"metadata": None, "spec": None},
        {"metadata": {"labels": None, "annotations": None}, "spec": {"containers": None}},
        {"metadata": {"labels": {"a": None}}, "spec": {"containers": [], "volumes": []}},
    ],
)
def test_given_a_template_without_content_then_it_counts_as_empty(template: Manifest | None) -> None:
    plain = engine_statefulset(engine_inputs(), 0)
    assert engine_statefulset(engine_inputs({"template": template}), 0) == plain


def test_given_containers_in_both_layers_then_the_engine_is_first_and_the_rest_keep_their_order() -> None:
    def template(mark: str) -> Manifest:
        side, first = {"name": f"{mark}-side", "image": "s"}, {"name": f"{mark}-init", "image": "i"}
        return {"spec": {"containers": [side, {"name": "engine", "image": mark}], "initContainers": [first]}}

    pod = pod_of({"template": template("own"), "uiSidecar": True}, {"template": template("class")})
    assert [each["name"] for each in pod["containers"]] == ["engine", "class-side", "own-side", "engine-web"]
    assert [each["name"] for each in pod["initContainers"]] == ["class-init", "own-init"]
    assert pod["containers"][0]["image"] == "own"
    assert pod["containers"][2] == {"name": "own-side", "image": "s"}


@pytest.mark.parametrize(
    ("own", "inherited", "expected"),
    [
        (None, None, {"fsGroup": 3473, "fsGroupChangePolicy": "OnRootMismatch"}),
        ({"fsGroup": 7}, {"runAsUser": 1}, {"fsGroup": 7, "fsGroupChangePolicy": "OnRootMismatch"}),
        ({}, {"runAsUser": 1}, {"fsGroup": 3473, "fsGroupChangePolicy": "OnRootMismatch"}),
        (
            None,
            {"runAsUser": 1, "fsGroupChangePolicy": "Always"},
            {"fsGroup": 3473, "fsGroupChangePolicy": "Always", "runAsUser": 1},
        ),
    ],
)
def test_given_a_pod_security_context_then_the_defaults_fill_its_gaps(
    own: Manifest | None, inherited: Manifest | None, expected: Manifest
) -> None:
    pod = pod_of(
        with_template({"securityContext": own} if own is not None else {}),
        with_template({"securityContext": inherited} if inherited is not None else {}),
    )
    assert pod["securityContext"] == expected


def test_given_rendered_objects_when_they_are_changed_then_the_inputs_are_not() -> None:
    spec = with_template(
        {"affinity": {"nodeAffinity": {}}, "tolerations": [{"key": "a"}]}, engine={"env": [{"name": "A"}]}
    )
    inputs = engine_inputs(spec, spec)
    before = copy.deepcopy(inputs)
    scribble(engine_statefulset(inputs, 0))
    scribble(effective_template(inputs).pod)
    assert inputs == before
    assert engine_statefulset(inputs, 0) == engine_statefulset(before, 0)


def scribble(value: Any) -> None:
    """Change every object and list in it."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        scribble(inner)
    if isinstance(value, dict):
        value["scribble"] = True
    elif isinstance(value, list):
        value.append("scribble")
