"""Whole objects of a gateway, compared with what is written down in golden/.

Whatever differs there replaces every gateway pod of every user with the next release, so a change must be meant.
"""

from pathlib import Path
from typing import Any

import yaml

from firebolt_operator.gateway.envoy.bootstrap import envoy_bootstrap, envoy_yaml
from firebolt_operator.gateway.objects import gateway_objects
from firebolt_operator.refs import Manifest
from tests.support.gateways import all_objects, gateway_inputs

GOLDEN = Path(__file__).parent / "golden"


def without_scripts(value: Any) -> Any:
    """What is rendered of a script is its first line; the rest is a file with tests of its own."""
    if isinstance(value, dict):
        return {key: without_scripts(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_scripts(inner) for inner in value]
    is_script = isinstance(value, str) and "\n" in value.rstrip("\n")
    return f"{value.splitlines()[0]} ..." if is_script else value


def golden(name: str) -> list[Manifest]:
    return list(yaml.load_all((GOLDEN / name).read_text(), yaml.CSafeLoader))


def test_the_whole_configuration_of_envoy() -> None:
    assert [without_scripts(envoy_bootstrap(gateway_inputs(wake=True)))] == golden("envoy.yaml")


def test_people_read_first_what_comes_first() -> None:
    assert envoy_yaml(gateway_inputs()).startswith("static_resources:\n  listeners:\n  - name: listener\n")


def test_all_objects_with_a_wake_agent() -> None:
    objects = gateway_objects(gateway_inputs(wake=True))
    annotations = objects.deployment["spec"]["template"]["metadata"]["annotations"]
    assert annotations.pop("firebolt.io/config-hash") == objects.config_hash
    assert objects.config_map["data"] == {"envoy.yaml": envoy_yaml(gateway_inputs(wake=True))}
    objects.config_map.pop("data")
    assert [without_scripts(each) for each in all_objects(objects)] == golden("objects.yaml")
