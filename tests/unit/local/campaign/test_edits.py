"""Are edits drawn from all fields, and does a line say what one of them does?"""

from typing import Any

import pytest

from firebolt_local.campaign.edits.draw import CHAIN, ENOUGH, chain_line, chains, edit_lines
from firebolt_local.campaign.edits.edit import Edit, parse_edit, schemas
from firebolt_local.campaign.edits.fields import fields
from firebolt_local.campaign.edits.runs import NAMES
from firebolt_local.campaign.edits.values import Sort, value
from firebolt_local.errors import LocalError
from firebolt_operator.refs import Manifest

ENGINE = "FireboltEngine spec"


@pytest.mark.parametrize(
    ("line", "spec", "expected"),
    [
        (f"{ENGINE}.replicas illegal", {"replicas": 2}, {"replicas": 1001}),
        (f"{ENGINE}.replicas extreme", {"replicas": 2}, {"replicas": 0}),
        (f"{ENGINE}.replicas null", {"replicas": 2}, {"replicas": None}),
        (f"{ENGINE}.replicas removed", {"replicas": 2}, {}),
        (f"{ENGINE}.rollout legal", {}, {"rollout": "recreate"}),
        (f"{ENGINE}.rollout illegal", {}, {"rollout": "none of these"}),
        (f"{ENGINE}.drainTimeout legal", {}, {"drainTimeout": "1h"}),
        (f"{ENGINE}.drainTimeout extreme", {}, {"drainTimeout": "x" * 64}),
        (f"{ENGINE}.storage.hostPath.path legal", {}, {"storage": {"hostPath": {"path": "/data"}}}),
        (
            f"{ENGINE}.autoStop.idleTimeout legal",
            {},
            {"autoStop": {"enabled": True, "activeReplicas": 2, "idleTimeout": "1h"}},
        ),
        (f"{ENGINE}.template.metadata legal", {}, {"template": {"metadata": {"labels": {"key": "text"}}}}),
        (
            f"{ENGINE}.template.spec.containers.[].tty legal",
            {},
            {"template": {"spec": {"containers": [{"name": "engine", "tty": True}]}}},
        ),
    ],
)
def test_a_line_is_an_edit(line: str, spec: Manifest, expected: Manifest) -> None:
    edit = parse_edit(line)
    assert str(edit) == line
    assert edit.applied(spec) == expected


def test_an_edit_leaves_what_it_was_given_alone() -> None:
    spec: Manifest = {"storage": {"hostPath": {"path": "/old"}}}
    parse_edit(f"{ENGINE}.storage.hostPath.path legal").applied(spec)
    assert spec == {"storage": {"hostPath": {"path": "/old"}}}


@pytest.mark.parametrize("line", ["", "Pod spec.replicas legal", f"{ENGINE}.colour legal", f"{ENGINE}.replicas odd"])
def test_what_is_no_edit_is_refused(line: str) -> None:
    with pytest.raises(LocalError):
        parse_edit(line)


def test_enough_edits_touch_every_field_of_our_own_in_every_way() -> None:
    drawn = [edit for chain in chains(ENOUGH, seed=1) for edit in chain]
    assert len(drawn) == ENOUGH >= 1000
    own = {
        (kind, str(field))
        for kind, schema in schemas().items()
        for field in fields(schema)
        if "template" not in field.path[:-1] and (kind, str(field)) != ("FireboltInstance", "id")
    }
    for sort in Sort:
        assert {(edit.kind, str(edit.field)) for edit in drawn if edit.sort is sort} >= own


def test_every_kind_that_is_drawn_can_be_made() -> None:
    assert set(NAMES) == set(schemas())


def test_the_same_seed_draws_the_same() -> None:
    assert chains(300, seed=3) == chains(300, seed=3)
    assert chains(300, seed=3) != chains(300, seed=4)


def test_an_instance_is_edited_by_itself() -> None:
    for chain in chains(1000, seed=1):
        assert 0 < len(chain) <= CHAIN
        assert len({edit.kind == "FireboltInstance" for edit in chain}) == 1


def test_a_chain_is_one_line() -> None:
    chain = chains(50, seed=1)[0]
    assert tuple(map(parse_edit, edit_lines(chain_line(chain)))) == chain


@pytest.mark.parametrize("sort", [Sort.LEGAL, Sort.ILLEGAL, Sort.EXTREME])
def test_every_field_has_a_value_and_can_be_set(sort: Sort) -> None:
    for kind, schema in schemas().items():
        for field in fields(schema):
            edited: dict[str, Any] = Edit(kind, field, sort).applied({})
            assert edited, field


def test_a_flag_is_turned() -> None:
    assert value("enabled", {"type": "boolean", "default": True}, Sort.LEGAL) is False
