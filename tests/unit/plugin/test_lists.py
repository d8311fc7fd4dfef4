"""Does every format show what kubectl's would?"""

import json

import pytest
import yaml

from firebolt_operator.refs import Manifest
from kubectl_firebolt.lists import ENGINES, INSTANCES, PRESETS, Format, listed
from tests.support.plugin import a_condition, an_engine

FRESH = an_engine("new", spec={"engineClassRef": "small"}, status={})
STOPPED = an_engine(
    "a-long-name",
    spec={"replicas": 0},
    status={"phase": "stopped", "conditions": [a_condition("Ready", "False", "Stopped", "")]},
)
ITEMS = [an_engine("e1"), FRESH, STOPPED]
INSTANCE: Manifest = {"metadata": {"name": "i1"}, "status": {"phase": "Ready"}}

TABLE = """\
NAME          INSTANCE   PHASE     READY
e1            i1         stable    true
new           i1         -         -
a-long-name   i1         stopped   false"""
WIDE = """\
NAME          INSTANCE   CLASS   REPLICAS   PHASE     READY
e1            i1         -       2          stable    true
new           i1         small   2          -         -
a-long-name   i1         -       0          stopped   false"""


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Format.TABLE, TABLE),
        (Format.WIDE, WIDE),
        (Format.NAME, "fireboltengine/e1\nfireboltengine/new\nfireboltengine/a-long-name"),
    ],
)
def test_engines_for_people(form: Format, text: str) -> None:
    assert listed(ENGINES, ITEMS, form) == text


@pytest.mark.parametrize(("form", "load"), [(Format.JSON, json.loads), (Format.YAML, yaml.safe_load)])
@pytest.mark.parametrize("items", [ITEMS, []])
def test_engines_for_programs(form: Format, load: object, items: list[Manifest]) -> None:
    assert callable(load)
    told = listed(ENGINES, items, form)
    assert load(told) == {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items}


def test_json_is_indented() -> None:
    assert listed(ENGINES, [], Format.JSON) == (
        '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "metadata": {},\n  "items": []\n}'
    )


@pytest.mark.parametrize("form", [Format.TABLE, Format.WIDE])
def test_instances_have_one_table(form: Format) -> None:
    assert listed(INSTANCES, [INSTANCE], form) == "NAME   PHASE   READY\ni1     Ready   -"
    assert listed(INSTANCES, [], form) == "NAME   PHASE   READY"


def test_a_preset_tells_how_many_engines_it_concerns() -> None:
    preset: Manifest = {"metadata": {"name": "firebolt"}, "status": {"boundEngines": 3}}
    assert listed(PRESETS, [preset], Format.TABLE) == "NAME       BOUND   READY\nfirebolt   3       -"
    assert listed(PRESETS, [preset], Format.NAME) == "fireboltenginepreset/firebolt"
