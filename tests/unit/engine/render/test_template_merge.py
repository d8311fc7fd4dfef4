"""Merging two fragments: laws that hold for any two, and the rules field by field."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.engine.render.template import merge_fields
from firebolt_operator.refs import Manifest

scalars = st.one_of(st.text(min_size=1, max_size=3), st.integers(), st.booleans())
objects = st.dictionaries(st.sampled_from("ab"), scalars, min_size=1, max_size=2)


@st.composite
def fragments(draw: st.DrawFn) -> Manifest:
    """Fields of one fixed shape each, as in a schema; any of them may be missing."""
    shapes: dict[str, st.SearchStrategy[Any]] = {
        "scalar": scalars,
        "object": objects,
        "list": st.lists(objects, max_size=2),
        "nodeSelector": objects,
        "overhead": objects,
    }
    return {name: draw(shape) for name, shape in shapes.items() if draw(st.booleans())}


@given(fragments())
def test_given_one_empty_side_then_the_other_stays(fragment: Manifest) -> None:
    settled = merge_fields(fragment, {})
    assert merge_fields({}, fragment) == settled
    assert settled == {name: value for name, value in fragment.items() if value != []}


@given(fragments(), fragments(), fragments())
def test_given_three_layers_then_grouping_does_not_matter(low: Manifest, middle: Manifest, high: Manifest) -> None:
    left, right = merge_fields(merge_fields(low, middle), high), merge_fields(low, merge_fields(middle, high))
    assert left == right


@given(fragments(), fragments())
def test_given_two_layers_then_the_upper_one_is_never_lost(low: Manifest, high: Manifest) -> None:
    merged = merge_fields(low, high)
    for name in ("scalar", "object", "overhead"):
        assert name not in high or merged[name] == high[name]
    assert merged.get("list", []) == low.get("list", []) + high.get("list", [])
    assert merged.get("nodeSelector", {}) == low.get("nodeSelector", {}) | high.get("nodeSelector", {})


@given(fragments(), fragments())
def test_given_two_layers_then_neither_is_changed(low: Manifest, high: Manifest) -> None:
    before = copy.deepcopy((low, high))
    merge_fields(low, high)
    assert (low, high) == before


@pytest.mark.parametrize(
    ("field", "under", "over", "expected"),
    [
        pytest.param("image", "class", "", "class", id="an-empty-string-says-nothing"),
        pytest.param("automountServiceAccountToken", True, False, False, id="false-is-a-choice"),
        pytest.param("priority", 7, 0, 0, id="zero-is-a-choice"),
        pytest.param("affinity", {"nodeAffinity": {}}, {}, {}, id="an-empty-object-is-a-choice"),
        pytest.param("affinity", {"nodeAffinity": {}}, None, {"nodeAffinity": {}}, id="null-says-nothing"),
        pytest.param("overhead", {"cpu": "1"}, {}, {"cpu": "1"}, id="an-empty-overhead-says-nothing"),
        pytest.param(
            "resources", {"limits": {"cpu": "1"}}, {"requests": {}}, {"limits": {"cpu": "1"}}, id="empty-resources"
        ),
        pytest.param(
            "resources", {"limits": {"cpu": "1"}}, {"claims": [{"name": "g"}]}, {"claims": [{"name": "g"}]}, id="claims"
        ),
        pytest.param("env", [{"name": "A"}], [{"name": "A"}], [{"name": "A"}, {"name": "A"}], id="duplicates-stay"),
    ],
)
def test_given_a_field_in_both_layers_then_its_shape_decides(
    field: str, under: object, over: object, expected: object
) -> None:
    assert merge_fields({field: under}, {field: over}) == {field: expected}


def test_given_nothing_set_then_the_field_is_left_out() -> None:
    assert merge_fields({"image": "", "env": [], "nodeSelector": {}}, {"image": None, "overhead": {}}) == {}
