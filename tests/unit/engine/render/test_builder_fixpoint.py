"""Whatever a template asks for, what is rendered from it matches it, and means no more than it says."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.engine.render.drift.statefulset import find_drift
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.manifests.api_defaults import without_absent
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import engine_inputs

TEXT = st.sampled_from(["", "x", "engine", "default", "1Gi", "Always"])
LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "string": TEXT,
    "integer": st.integers(0, 3),
    "boolean": st.booleans(),
}


@st.composite
def values(draw: st.DrawFn, schema: Manifest, depth: int = 6) -> Any:
    """JSON of a schema; most optional fields are left out, or a template would not fit on a page."""
    match schema.get("type"):
        case "array":
            return [draw(values(schema["items"], depth - 1)) for _ in range(draw(st.integers(0, 2 if depth else 0)))]
        case "object" if "properties" in schema:
            properties: dict[str, Manifest] = schema["properties"]
            chosen = set(schema.get("required", [])) | (
                draw(st.sets(st.sampled_from(sorted(properties)), max_size=3)) if depth else set()
            )
            return {name: draw(values(properties[name], depth - 1)) for name in sorted(chosen)}
        case "object":
            return draw(st.dictionaries(TEXT, TEXT, max_size=2))
        case kind:
            return draw(LEAVES.get(str(kind), TEXT))


templates = st.fixed_dictionaries(
    {"spec": values(pod_template_schema()["properties"]["spec"])},
    optional={"metadata": st.fixed_dictionaries({"labels": st.dictionaries(TEXT, TEXT, max_size=2)})},
)


@given(own=templates, inherited=st.none() | templates, replicas=st.integers(0, 3), ui=st.booleans())
def test_given_any_template_then_its_statefulset_does_not_drift(
    own: Manifest, inherited: Manifest | None, replicas: int, ui: bool
) -> None:
    spec = {"replicas": replicas, "template": own, "uiSidecar": ui}
    inputs = engine_inputs(spec, None if inherited is None else {"template": inherited})
    statefulset = engine_statefulset(inputs, 7)
    assert find_drift(statefulset, inputs) is None
    assert statefulset == engine_statefulset(inputs, 7)
    pod = statefulset["spec"]["template"]["spec"]
    assert without_absent("spec", pod) == pod


@given(one=templates, other=templates)
def test_given_two_templates_then_drift_does_not_depend_on_the_side(one: Manifest, other: Manifest) -> None:
    first, second = engine_inputs({"template": one}), engine_inputs({"template": other})
    there = find_drift(engine_statefulset(first, 0), second)
    back = find_drift(engine_statefulset(second, 0), first)
    assert (there is None) == (back is None)
