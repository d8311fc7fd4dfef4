"""Are the parts of a JSON text found, however deep it is, and in a time that grows with it and no faster?"""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.kube.scanning import elements, members
from tests.support.growth import STEEPEST, growth

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)
LAYOUTS = st.sampled_from([{}, {"separators": (",", ":")}, {"indent": 2}, {"ensure_ascii": False}])


def nested(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = {"in": [value]}
    return value


@given(st.dictionaries(st.text(), JSON, max_size=5), LAYOUTS, st.integers(0, 9))
def test_members_are_what_the_decoder_finds(document: dict[str, Any], layout: dict[str, Any], levels: int) -> None:
    document = {name: nested(value, levels) for name, value in document.items()}
    text = json.dumps(document, **layout).encode()
    found = {name: json.loads(text[value.start : value.end]) for name, value in members(text)}
    assert found == document


@given(st.lists(JSON, max_size=5), LAYOUTS, st.integers(0, 9))
def test_elements_are_what_the_decoder_finds(document: list[Any], layout: dict[str, Any], levels: int) -> None:
    document = [nested(value, levels) for value in document]
    text = json.dumps(document, **layout).encode()
    assert [json.loads(text[each.start : each.end]) for each in elements(text)] == document


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=5), st.data())
def test_a_text_that_was_cut_off_is_refused(document: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(document).encode()
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(ValueError, match=r"expected|ends|truncated|malformed"):
        list(members(cut))


@given(st.binary())
def test_no_text_at_all_raises_anything_else(text: bytes) -> None:
    for scan in (members, elements):
        try:
            list(scan(text))
        except ValueError:
            continue


@pytest.mark.parametrize("levels", [5, 64, 1_000, 10_000, 200_000])
def test_depth_is_told_but_for_the_innermost_levels(levels: int) -> None:
    text = b'{"deep":' + b'{"a":[' * levels + b"1" + b"]}" * levels + b',"after":"x"}'
    (_, deep), (name, after) = members(text)
    assert (name, text[after.start : after.end]) == ("after", b'"x"')
    assert 2 * levels - 4 <= deep.depth <= 2 * levels


Text = Callable[[int], bytes]  # of about so many bytes


def nest(opening: bytes, closing: bytes) -> Text:
    def made(size: int) -> bytes:
        levels = size // len(opening + closing)
        return b"[" + opening * levels + b"0" + closing * levels + b"]"

    return made


def row(element: bytes) -> Text:
    return lambda size: b"[" + b",".join([element] * (size // (len(element) + 1))) + b"]"


def run(begin: bytes, piece: bytes, end: bytes) -> Text:
    return lambda size: begin + piece * (size // len(piece)) + end


TEXTS: dict[str, Text] = {
    "one-after-another": nest(b"[", b"]"),
    "objects": nest(b'{"a":', b"}"),
    "spaced": nest(b"[0,", b"]"),
    "many-of-some-depth": row(b"[[[[[[[[[[[[0]]]]]]]]]]]]"),
    "many-empty": row(b"[]"),
    "backslashes": run(b'["', b"\\\\", b'"]'),
    "one-string": run(b'["', b"x", b'"]'),
    "one-number": run(b"[", b"1", b"]"),
    "blanks": run(b"[", b" ", b"]"),
}


@pytest.mark.parametrize("made", [pytest.param(made, id=name) for name, made in TEXTS.items()])
def test_time_grows_with_the_text_and_no_faster(made: Text) -> None:
    assert growth(lambda text: list(elements(text)), made, ()) < STEEPEST


def test_scanning_needs_no_memory_of_its_own() -> None:
    text = b"[" + b'{"a":[' * 200_000 + b'"\\\\"' + b"]}" * 200_000 + b"]"
    tracemalloc.start()
    try:
        (found,) = elements(text)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.end == len(text) - 1
    assert most < 100_000
