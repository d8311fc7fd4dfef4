"""Hash annotations: what changes them, and what must not."""

import dataclasses
import hashlib
from typing import Any

import pytest

from firebolt_operator.engine.render.statefulset import custom_config_hash, engine_class_hash, hash_annotations
from firebolt_operator.manifests.hashes import content_hash
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import INSTANCE, engine_class, engine_inputs


def test_given_a_text_then_its_hash_has_16_hex_digits() -> None:
    assert content_hash("a\u00e4") == hashlib.sha256("a\u00e4".encode()).hexdigest()[:16]


def config_hash(own: Any, inherited: Any = None) -> str:
    spec = {} if own is None else {"customEngineConfig": own}
    return custom_config_hash(engine_inputs(spec, {} if inherited is None else {"customEngineConfig": inherited}))


def test_given_the_same_configuration_written_differently_then_the_hash_is_the_same() -> None:
    config = {"a": 1, "b": {"c": 2, "d": 3}}
    wanted = content_hash('{"a":1,"b":{"c":2,"d":3}}')
    assert config_hash(config) == wanted
    assert config_hash({"b": {"d": 3, "c": 2}, "a": 1, "endpoints": {}}) == wanted
    assert config_hash(None, config) == wanted
    assert config_hash({"b": {"c": 2, "d": 3}}, {"a": 1, "b": {"d": 9}}) == wanted
    assert config_hash({"a": 2}) != config_hash({"a": 1})


@pytest.mark.parametrize("config", [None, {}, {"engine": {"id": "x"}}, {"instance": None}])
def test_given_only_owned_paths_then_there_is_no_hash(config: Manifest | None) -> None:
    assert config_hash(config) == ""


def test_given_a_class_then_its_whole_template_is_hashed_and_nothing_else() -> None:
    template = {"spec": {"nodeName": "n"}, "metadata": {"labels": {"a": "b"}}}
    wanted = engine_class_hash(engine_class(template=template))
    assert wanted == content_hash('{"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n"}}')
    assert engine_class_hash(engine_class(template=template, uiSidecar=True, rollout="recreate")) == wanted
    assert engine_class_hash(engine_class(template={})) == content_hash("{}")
    assert engine_class_hash(None) == ""


def test_given_nothing_to_say_then_there_are_no_annotations() -> None:
    assert hash_annotations(engine_inputs()) == {}


def test_given_everything_then_each_annotation_is_there() -> None:
    instance = dataclasses.replace(
        INSTANCE, hash_annotations={"firebolt.io/auth-hash": "aa", "firebolt.io/engine-tls-hash": ""}
    )
    spec = {"metadataEndpointOverride": "m:1", "customEngineConfig": {"a": 1}}
    assert hash_annotations(engine_inputs(spec, {}, instance=instance)) == {
        "firebolt.io/metadata-override": "m:1",
        "firebolt.io/custom-engine-config-hash": content_hash('{"a":1}'),
        "firebolt.io/engine-class-hash": content_hash("{}"),
        "firebolt.io/auth-hash": "aa",
    }
