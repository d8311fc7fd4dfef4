"""Is a configuration measured as it is written, and refused once no ConfigMap could hold it?"""

import json
from typing import Any

import pytest

from firebolt_operator.engine.render.engine_config import deep_merge
from firebolt_operator.policy.config_size import MOST_BYTES, check_config_size
from firebolt_operator.policy.field_errors import Path, aggregate
from firebolt_operator.refs import Manifest

CONFIG = Path("spec").child("customEngineConfig")
OBJECTS: list[Manifest] = [
    {},
    {"a": {}, "b": [], "c": [[]], "d": [{}]},
    {"a": [0, -1, 1.5, True, None, "x"], "b": {"c": [{"d": {"e": [1, [2, [3]]]}}, {}]}},
    {"\u00e9\U0001f525": 'q"\\\n\x01', "deep": {"a": {"b": {"c": {"d": ["\u20ac"] * 5}}}}},
]


def written(config: Manifest) -> int:
    return len(json.dumps(config, indent=2, sort_keys=True, ensure_ascii=False).encode())


def filled(config: Manifest, length: int) -> Manifest:
    """With one word more, which brings it to this length."""
    return config | {"filler": "x" * (length - written(config | {"filler": ""}))}


@pytest.mark.parametrize("config", OBJECTS)
def test_it_is_as_long_as_it_is_written(config: Manifest) -> None:
    most, more = filled(config, MOST_BYTES), filled(config, MOST_BYTES + 1)
    assert written(most) == MOST_BYTES
    assert check_config_size(most, {}, CONFIG) == []
    assert aggregate(check_config_size(more, {}, CONFIG)) == (
        "spec.customEngineConfig: Forbidden: becomes a file of more than the 1 MiB that a ConfigMap holds;"
        " shorten it, or nest it less"
    )


@pytest.mark.parametrize("under", OBJECTS)
@pytest.mark.parametrize("over", OBJECTS)
def test_what_is_inherited_counts_as_it_is_merged(under: Manifest, over: Manifest) -> None:
    named = {"class": under} if under else {}
    missing = MOST_BYTES - written(deep_merge(under, over) | {"filler": ""})
    most, more = over | {"filler": "x" * missing}, over | {"filler": "x" * (missing + 1)}
    assert check_config_size(most, named, CONFIG) == []
    (error,) = check_config_size(more, named, CONFIG)
    assert ("together with that of its class" in str(error)) == bool(under)


@pytest.mark.parametrize("middle", [*OBJECTS, {"a": {"x": 1}}, {"a": "hides what is below"}])
@pytest.mark.parametrize("under", OBJECTS)
def test_of_three_layers_as_well(under: Manifest, middle: Manifest) -> None:
    over: Manifest = {"a": {"y": 1}}
    missing = MOST_BYTES - written(deep_merge(deep_merge(under, middle), over) | {"filler": ""})
    layers = {"class": under, "preset": middle}
    assert check_config_size(over | {"filler": "x" * missing}, layers, CONFIG) == []
    (error,) = check_config_size(over | {"filler": "x" * (missing + 1)}, layers, CONFIG)
    assert "together with that of its preset and its class" in str(error)


def test_what_is_replaced_does_not_count() -> None:
    large: Manifest = {"a": {"b": "x" * MOST_BYTES}}
    assert check_config_size({"a": {"b": ""}}, {"class": large}, CONFIG) == []
    assert check_config_size({"a": None}, {"class": large}, CONFIG) == []
    assert check_config_size({"a": {"c": ""}}, {"class": large}, CONFIG)
    assert check_config_size(None, {"class": large}, CONFIG)


def test_nothing_has_no_length() -> None:
    assert check_config_size(None, {}, CONFIG) == []


def test_indentation_counts_at_any_depth() -> None:
    """Half a mebibyte of zeros, at a depth that no recursion reaches."""
    nested: Any = [0] * 250
    for _ in range(2_000):
        nested = {"a": nested}
    assert check_config_size(nested, {}, CONFIG)
    assert check_config_size({"a": [0] * 250}, {}, CONFIG) == []
