"""The metadata service's configuration survives whatever people write into it, in both dialects."""

from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.api.instance import FireboltInstance, PostgresSpec
from firebolt_operator.api.model import LocalRef
from firebolt_operator.instance.render.metadata_config import config_problem, metadata_config
from firebolt_operator.policy.instance_checks import NOT_XML
from firebolt_operator.refs import Manifest
from tests.support.instances import EXTERNAL, an_instance

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
XML_TEXT = ANY_TEXT.filter(lambda text: not NOT_XML.search(text))
HOSTILE = '"\n  injected: x\n# </host><injected>&amp;]]><!--'
LEGACY: Manifest = {
    "pensieve_lite": {
        "default_account_id": "01J00000000000000000000000",
        "host": "0.0.0.0",
        "port": 7000,
        "server_threads": 0,
        "log_level": "information",
        "metadata_storage": {
            "postgresql": {
                "host": "db.example",
                "port": 6432,
                "database": "meta",
                "schema": "private",
                "keepalive": {"enabled": 1, "idle_sec": 120, "interval_sec": 30, "count": 5},
                "connect_timeout_sec": 5,
            },
            "garbage_collection": {"enabled": True, "interval_ms": 3600000, "time_horizon_sec": 86400},
        },
    }
}
NEXT_GENERATION: Manifest = {
    "pensieve_duck": {
        "host": "0.0.0.0",
        "port": 7000,
        "metadata_storage": {"postgresql": {"host": "db.example", "port": 6432, "database": "meta"}},
    }
}


def with_strings(values: list[str], config_format: str) -> FireboltInstance:
    """The CRD's patterns are a first line of defence; rendering must hold without them."""
    account, host, database, schema = values
    postgres = PostgresSpec(
        host=host, database=database, schema=schema, credentials_secret_ref=LocalRef(name="db-login")
    )
    instance = an_instance(id=account, metadata={"configFormat": config_format})
    metadata = msgspec.structs.replace(instance.spec.metadata, postgres=postgres)
    return msgspec.structs.replace(instance, spec=msgspec.structs.replace(instance.spec, metadata=metadata))


def strings_of(tree: Manifest) -> list[str]:
    service = tree["pensieve_lite"]
    postgresql = service["metadata_storage"]["postgresql"]
    return [service["default_account_id"], postgresql["host"], postgresql["database"], postgresql["schema"]]


def from_xml(text: str) -> Manifest:
    root = ET.fromstring(text)
    assert root.tag == "config"
    tree: Manifest = _value(root)
    return tree


def _value(element: ET.Element) -> Any:
    return {child.tag: _value(child) for child in element} if len(element) else element.text or ""


def as_text(tree: Any) -> Any:
    """What a tree looks like when every value is text."""
    if isinstance(tree, dict):
        return {key: as_text(value) for key, value in tree.items()}
    return str(tree).lower() if isinstance(tree, bool) else str(tree)


def test_both_dialects_say_the_same() -> None:
    postgres = {**EXTERNAL, "port": 6432, "schema": "private"}
    xml, yml = (
        metadata_config(an_instance(metadata={"postgres": postgres, "configFormat": dialect}))
        for dialect in ("XML", "YAML")
    )
    assert (xml.name, from_xml(xml.text)) == ("config.xml", as_text(LEGACY))
    assert (yml.name, yaml.load(yml.text, yaml.CSafeLoader)) == ("config.yaml", LEGACY)


@pytest.mark.parametrize("dialect", ["XML", "YAML"])
def test_the_next_generation_has_a_document_of_its_own_in_yaml(dialect: str) -> None:
    postgres = {**EXTERNAL, "port": 6432, "schema": "private"}
    file = metadata_config(an_instance(metadataNG=True, metadata={"postgres": postgres, "configFormat": dialect}))
    assert (file.name, yaml.load(file.text, yaml.CSafeLoader)) == ("config.yaml", NEXT_GENERATION)


def test_the_document_of_the_next_generation_does_not_follow_the_id() -> None:
    upper, lower = (metadata_config(an_instance(id=name, metadataNG=True)).text for name in ("AB", "ab"))
    assert upper == lower


def test_given_zero_and_empty_when_rendered_then_port_and_schema_fall_back() -> None:
    postgres = PostgresSpec(host="h", port=0, database="d", schema="", credentials_secret_ref=LocalRef(name="db-login"))
    instance = with_strings(["i", "h", "d", "s"], "XML")
    metadata = msgspec.structs.replace(instance.spec.metadata, postgres=postgres)
    changed = msgspec.structs.replace(instance, spec=msgspec.structs.replace(instance.spec, metadata=metadata))
    server = from_xml(metadata_config(changed).text)["pensieve_lite"]["metadata_storage"]["postgresql"]
    assert (server["port"], server["schema"]) == ("5432", "public")


def test_the_four_strings_are_quoted_in_yaml() -> None:
    lines = metadata_config(with_strings(["1", "on", "null", "~"], "YAML")).text.splitlines()
    quoted = [line.split(": ", 1)[1] for line in lines if '"' in line]
    assert quoted == ['"1"', '"on"', '"null"', '"~"']


@pytest.mark.parametrize("dialect", ["XML", "YAML"])
def test_given_hostile_strings_when_rendered_then_they_stay_strings(dialect: str) -> None:
    values = [HOSTILE, HOSTILE + "\r\n", "\r" + HOSTILE, "\t" + HOSTILE]
    text = metadata_config(with_strings(values, dialect)).text
    tree = from_xml(text) if dialect == "XML" else yaml.load(text, yaml.CSafeLoader)
    assert strings_of(tree) == values
    assert "injected" not in tree


@given(values=st.lists(XML_TEXT, min_size=4, max_size=4))
def test_xml_gives_back_what_was_put_in(values: list[str]) -> None:
    instance = with_strings(values, "XML")
    assert config_problem(instance) is None
    expected = [values[0], values[1], values[2], values[3] or "public"]
    assert strings_of(from_xml(metadata_config(instance).text)) == expected


@given(values=st.lists(ANY_TEXT, min_size=4, max_size=4))
def test_yaml_gives_back_what_was_put_in(values: list[str]) -> None:
    instance = with_strings(values, "YAML")
    assert config_problem(instance) is None
    expected = [values[0], values[1], values[2], values[3] or "public"]
    assert strings_of(yaml.load(metadata_config(instance).text, yaml.CSafeLoader)) == expected


@pytest.mark.parametrize(
    ("place", "field"),
    [
        (0, "spec.id"),
        (1, "spec.metadata.postgres.host"),
        (2, "spec.metadata.postgres.database"),
        (3, "spec.metadata.postgres.schema"),
    ],
)
def test_given_a_character_that_xml_cannot_express_then_the_field_is_named(place: int, field: str) -> None:
    values = ["a", "b", "c", "d"]
    values[place] = "x\x00y"
    problem = f'{field}: Invalid value: "x\\u0000y": contains a character that XML cannot express'
    assert config_problem(with_strings(values, "XML")) == problem
    assert config_problem(with_strings(values, "YAML")) is None
