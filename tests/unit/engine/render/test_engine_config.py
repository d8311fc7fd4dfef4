"""The engine's configuration file."""

import copy
import dataclasses
import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.engine.render.config_map import engine_config_map
from firebolt_operator.engine.render.engine_config import (
    deep_merge,
    drain_budget_seconds,
    engine_config,
    without_owned_paths,
)
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import INSTANCE, engine_inputs

BASE = engine_config(engine_inputs(), 0)

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
    max_leaves=6,
)
documents = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def config_with(own: Any, inherited: Any = None) -> Manifest:
    spec = {} if own is None else {"customEngineConfig": own}
    return engine_config(engine_inputs(spec, {} if inherited is None else {"customEngineConfig": inherited}), 0)


@pytest.mark.parametrize(("grace", "budget"), [(1, 1), (2, 1), (5, 1), (6, 1), (7, 2), (10, 5), (60, 55), (120, 115)])
def test_given_a_grace_period_then_the_engine_gets_a_little_less(grace: int, budget: int) -> None:
    assert drain_budget_seconds(grace) == budget


def test_given_replicas_then_each_has_a_full_host_name() -> None:
    nodes = engine_config(engine_inputs({"replicas": 2}), 7)["engine"]["nodes"]
    assert nodes == [
        {"host": "sales-g7-0.sales-g7-hl.apps.svc.cluster.local"},
        {"host": "sales-g7-1.sales-g7-hl.apps.svc.cluster.local"},
    ]
    assert engine_config(engine_inputs({"replicas": 0}), 7)["engine"]["nodes"] == []


def test_given_an_override_then_it_replaces_the_metadata_endpoint() -> None:
    config = engine_config(engine_inputs({"metadataEndpointOverride": "elsewhere:7000"}), 0)
    assert config["instance"]["multi_engine"] == {"metadata_endpoint": "elsewhere:7000"}


@pytest.mark.parametrize(
    "custom",
    [
        {"instance": "x"},
        {"instance": 42},
        {"engine": None},
        {"engine": []},
        {"instance": {"id": "x", "type": "y", "multi_engine": {"a": 1}, "auth": {"enabled": False}}},
        {"engine": {"id": "x", "nodes": [], "termination_grace_period": "1s"}},
        {"schema_version": "9", "endpoints": {"http": {}}},
        {},
        None,
    ],
)
def test_given_only_owned_paths_then_the_document_stays(custom: Any) -> None:
    assert config_with(custom) == BASE
    assert config_with(None, custom) == BASE


def test_given_other_paths_then_they_pass() -> None:
    custom = {"logging": {"level": "debug"}, "engine": {"id": "x", "cache": 1}, "auth": {"a": 1}, "storage": None}
    config = config_with(custom)
    assert config["logging"] == {"format": "json", "level": "debug"}
    assert config["engine"] == BASE["engine"] | {"cache": 1}
    assert (config["auth"], config["storage"]) == ({"a": 1}, None)


def test_given_both_layers_then_the_engines_keys_win() -> None:
    config = config_with({"a": {"x": 1, "l": [3]}}, {"a": {"x": 0, "y": 2, "l": [1, 2]}, "b": 1})
    assert (config["a"], config["b"]) == ({"x": 1, "y": 2, "l": [3]}, 1)


def test_given_sections_of_the_instance_then_they_lie_between_the_operator_and_the_user() -> None:
    listeners = {"http": {"listeners": [{"tls": {"certificate_file": "f"}}]}}
    sections = {"instance": {"auth": {"enabled": True}}, "endpoints": listeners, "logging": {"level": "info"}}
    instance = dataclasses.replace(INSTANCE, config_sections=sections)
    plain = {"instance": {"auth": {"enabled": False}}, "endpoints": {"http": {"listeners": []}}}
    spec = {"customEngineConfig": {**plain, "logging": {"level": "debug"}}}
    for inputs in (engine_inputs(spec, instance=instance), engine_inputs({}, spec, instance=instance)):
        config = engine_config(inputs, 0)
        assert config["instance"] == BASE["instance"] | {"auth": {"enabled": True}}
        assert config["endpoints"] == listeners
        assert config["logging"] == {"format": "json", "level": "debug"}


@given(documents, documents)
def test_given_any_documents_then_the_upper_one_shows_through_and_no_input_changes(
    low: Manifest, high: Manifest
) -> None:
    before = copy.deepcopy((low, high))
    merged = deep_merge(low, high)
    assert deep_merge(merged, high) == merged
    assert deep_merge(low, low) == deep_merge(low, {}) == deep_merge({}, low) == low
    assert all(merged[key] == value for key, value in high.items() if not isinstance(value, dict))
    assert all(merged[key] == value for key, value in low.items() if key not in high)
    assert (low, high) == before


@given(documents)
def test_given_any_document_then_removing_owned_paths_twice_changes_nothing_more(document: Manifest) -> None:
    custom = {"instance": document, "engine": {"id": 1} | document, "endpoints": 1} | document
    once = without_owned_paths(custom)
    assert without_owned_paths(once) == once


def test_given_a_config_map_then_its_one_key_is_sorted_indented_json() -> None:
    inputs = engine_inputs({"customEngineConfig": {"zone": "Z\u00fcrich \U0001f600"}})
    text = engine_config_map(inputs, 3)["data"]["config.yaml"]
    assert list(engine_config_map(inputs, 3)["data"]) == ["config.yaml"]
    assert text == json.dumps(engine_config(inputs, 3), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert yaml.load(text, yaml.CSafeLoader) == engine_config(inputs, 3)


def test_given_a_rendered_document_when_it_is_changed_then_the_inputs_are_not() -> None:
    inputs = engine_inputs({"customEngineConfig": {"a": {"b": [1]}}})
    engine_config(inputs, 0)["a"]["b"].append(2)
    assert inputs.spec.custom_engine_config == {"a": {"b": [1]}}
