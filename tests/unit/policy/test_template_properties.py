"""Templates that nobody would write: mistyped ones raise nothing, and each owned field is found where it stands."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.policy.bounds import check_bounds, parse_bounds
from firebolt_operator.policy.component_rules import ENGINE, GATEWAY, METADATA, METADATA_FIELDS, ComponentRules
from firebolt_operator.policy.engine_checks import check_engine_template, dropped_volumes
from firebolt_operator.policy.field_errors import MAX_TEXT, MOST_ERRORS, Path, aggregate
from firebolt_operator.policy.inherited import class_template
from firebolt_operator.policy.instance_checks import check_instance, rejected_component
from firebolt_operator.policy.owned_fields import check_owned_fields
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import a_container, a_template, an_engine_spec, an_instance, paths

BASE = Path("spec").child("template")
BOUNDS = parse_bounds(cpu="1", memory="1Gi", ephemeral_storage="1Gi")
RULES = pytest.mark.parametrize("rules", [ENGINE, GATEWAY, METADATA], ids=lambda rules: rules.component)

POD_SCHEMA: Manifest = pod_template_schema()["properties"]["spec"]["properties"]
CONTAINER_SCHEMA: Manifest = POD_SCHEMA["containers"]["items"]["properties"]
WALKED = frozenset({"containers", "initContainers", "volumes"})

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KNOWN_WORDS = ["engine", "envoy", "metadata", "engine-web", "wake-agent", "data", "auth-signing-x", "POD_INDEX"]
known_words = st.sampled_from(KNOWN_WORDS)
user_names = st.text("abcxyz-", min_size=1, max_size=8).map(lambda name: f"my-{name}")


def mistyped(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """An object with these fields, each of which may be absent or anything at all; or no object at all."""
    either = {name: strategy | json_values for name, strategy in fields.items()}
    return st.fixed_dictionaries({}, optional=either) | json_values


def some(element: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(element, max_size=3)


secret_refs = mistyped(name=known_words, secretName=known_words)
mistyped_containers = mistyped(
    name=known_words,
    command=json_values,
    volumeMounts=some(mistyped(name=known_words)),
    env=some(mistyped(name=known_words, valueFrom=mistyped(secretKeyRef=secret_refs))),
    envFrom=some(mistyped(secretRef=secret_refs)),
    resources=mistyped(requests=mistyped(cpu=json_values), limits=mistyped(memory=json_values)),
)
mistyped_volumes = mistyped(
    name=known_words,
    secret=secret_refs,
    projected=mistyped(sources=some(mistyped(secret=secret_refs))),
    csi=mistyped(nodePublishSecretRef=secret_refs),
)
mistyped_templates = mistyped(
    metadata=mistyped(labels=json_values, annotations=json_values, name=json_values),
    spec=mistyped(
        hostname=json_values,
        serviceAccountName=json_values,
        automountServiceAccountToken=json_values,
        containers=some(mistyped_containers),
        initContainers=some(mistyped_containers),
        volumes=some(mistyped_volumes),
    ),
)


@settings(max_examples=300)
@given(template=mistyped_templates)
def test_a_mistyped_template_raises_nothing(template: Any) -> None:
    inherited = [class_template("c", template)]
    findings = [error for rules in (ENGINE, GATEWAY, METADATA) for error in check_owned_fields(template, BASE, rules)]
    findings += check_bounds(template, (), BOUNDS) + check_bounds(None, inherited, BOUNDS)
    aggregate(findings)
    if isinstance(template, dict):
        check_everywhere(template)


def check_everywhere(template: Manifest) -> None:
    spec = an_engine_spec(template)
    inherited = [class_template("c", template)]
    instance = an_instance(metadata={"template": template}, gateway={"template": template})
    aggregate(check_engine_template(spec, inherited, {"data"}) + dropped_volumes(spec, inherited, {"data"}))
    aggregate(check_instance(instance))
    rejected_component(instance)


def test_a_huge_template_has_a_text_that_stays_small() -> None:
    many = 20_000
    template = a_template(
        *(a_container(f"c{number}", volumeMounts=[{"name": "auth-admin"}]) for number in range(many)),
        metadata={"labels": {f"firebolt.io/{number}": "x" for number in range(many)}},
        volumes=[{"name": "data", "secret": {"secretName": "x-auth-signing"}}] * many,
    )
    errors = check_owned_fields(template, BASE, ENGINE)
    text = aggregate(errors)
    assert len(errors) == MOST_ERRORS
    assert text.endswith(" more]")
    assert len(text) <= MAX_TEXT


def owned_pod_fields(rules: ComponentRules) -> set[str]:
    return {field.name for field in rules.pod_fields}


def owned_container_fields(rules: ComponentRules) -> set[str]:
    return {field.name for field in rules.primary_fields}


def sample_values(schema: Manifest) -> st.SearchStrategy[Any]:
    """Values that count as set, of the type that the schema wants."""
    samples: dict[str, Any] = {"boolean": True, "integer": 7, "string": "x", "array": [{"name": "mine"}]}
    return st.just(samples.get(schema.get("type", "object"), {"name": "mine"}))


def any_of(schema: Manifest, without: set[str]) -> st.SearchStrategy[Manifest]:
    optional = {name: sample_values(node) for name, node in sorted(schema.items()) if name not in without}
    return st.fixed_dictionaries({}, optional=optional)


@st.composite
def allowed_containers(draw: st.DrawFn, name: st.SearchStrategy[str], without: set[str]) -> Manifest:
    return {**draw(any_of(CONTAINER_SCHEMA, without | {"name"})), "name": draw(name)}


@st.composite
def allowed_templates(draw: st.DrawFn, rules: ComponentRules) -> Manifest:
    """Anything of the schema that is the user's: pod fields, the primary container, sidecars, volumes, keys."""
    keys = st.dictionaries(user_names, st.text(max_size=3), max_size=3)
    sidecars = st.lists(allowed_containers(user_names, set()), max_size=2)
    primary = allowed_containers(st.just(rules.primary), owned_container_fields(rules))
    return {
        "metadata": {"labels": draw(keys), "annotations": draw(keys)},
        "spec": {
            **draw(any_of(POD_SCHEMA, owned_pod_fields(rules) | WALKED)),
            "containers": [draw(primary), *draw(sidecars)],
            "initContainers": draw(sidecars),
            "volumes": [{"name": "mine"}],
        },
    }


@RULES
@settings(max_examples=60)
@given(data=st.data())
def test_a_template_of_allowed_fields_passes_and_one_owned_field_is_found_where_it_stands(
    rules: ComponentRules, data: st.DataObject
) -> None:
    template = data.draw(allowed_templates(rules))
    assert check_owned_fields(template, BASE, rules) == []
    for expected, violating in violations(rules, template):
        assert paths(check_owned_fields(violating, BASE, rules)) == [f"{BASE}.{expected}"]


def violations(rules: ComponentRules, template: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Every single owned field in turn: the path it is expected at, and the template with it."""
    metadata, pod = template["metadata"], template["spec"]
    first, *others = pod["containers"]
    for field in METADATA_FIELDS:
        yield f"metadata.{field.name}", {**template, "metadata": {**metadata, field.name: "x"}}
    for field in rules.pod_fields:
        if not (field.unless and pod.get(field.unless)):
            yield f"spec.{field.name}", {**template, "spec": {**pod, field.name: "x"}}
    for field in rules.primary_fields:
        containers = [{**first, field.name: "x"}, *others]
        yield f"spec.containers[0].{field.name}", {**template, "spec": {**pod, "containers": containers}}
    for volume in sorted(rules.operator_volumes):
        volumes = [*pod["volumes"], {"name": volume}]
        yield "spec.volumes[1].name", {**template, "spec": {**pod, "volumes": volumes}}


@RULES
def test_every_field_of_the_schema_is_either_owned_or_passes(rules: ComponentRules) -> None:
    """A field that a table misspells would be neither."""
    assert owned_pod_fields(rules) <= POD_SCHEMA.keys()
    assert owned_container_fields(rules) <= CONTAINER_SCHEMA.keys()


@pytest.mark.parametrize("rules", [GATEWAY, METADATA], ids=lambda rules: rules.component)
def test_a_closed_container_leaves_exactly_these_fields_to_the_user(rules: ComponentRules) -> None:
    assert CONTAINER_SCHEMA.keys() - owned_container_fields(rules) == {"name", "image", "imagePullPolicy", "resources"}
