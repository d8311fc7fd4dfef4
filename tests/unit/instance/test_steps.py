"""Only what differs is written, nothing that is going away, and no object of somebody else is deleted."""

import copy
import json
from typing import Any

import pytest

from firebolt_operator.instance.blueprint import BlueprintMemory
from firebolt_operator.instance.facts import Answer, InstanceFacts
from firebolt_operator.instance.plan import Apply, Remake
from firebolt_operator.instance.steps import gateway_steps, ref_of
from firebolt_operator.instance.views import decode_live
from firebolt_operator.refs import Manifest, Ref
from tests.unit.instance.builders import BLUEPRINTS, IMAGES, an_instance, some_facts

INSTANCE = an_instance()
BLUEPRINT = BLUEPRINTS.of(INSTANCE)


def manifests() -> dict[str, Manifest]:
    return {piece.manifest["kind"]: copy.deepcopy(piece.manifest) for piece in BLUEPRINT.gateway()}


def facts_of(found: dict[str, Manifest], *, are_answers_known: bool = True) -> InstanceFacts:
    live = {ref_of(each): decode_live(json.dumps(each).encode()) for each in found.values()}
    answers: dict[Ref, Answer] = {}
    if are_answers_known:
        rendered = manifests()
        answers = {ref: Answer(rendered[ref.resource.kind], live[ref]) for ref in live}
    facts = some_facts(live=live)
    return InstanceFacts(
        credentials=facts.credentials, metadata=facts.metadata, gateway=facts.gateway, live=live, answers=answers
    )


def writes(facts: InstanceFacts) -> list[tuple[str, str]]:
    return [(type(step.write).__name__, step.write.manifest["kind"]) for step in gateway_steps(BLUEPRINT, facts)]


def test_what_is_there_is_not_written() -> None:
    assert writes(facts_of(manifests())) == []


def test_what_is_missing_is_applied() -> None:
    found = manifests()
    del found["Service"]
    assert writes(facts_of(found)) == [("Apply", "Service")]


def test_what_is_going_away_is_left_to_go() -> None:
    found = manifests()
    found["Service"]["metadata"]["deletionTimestamp"] = "2026-05-01T12:00:00Z"
    found["Service"]["spec"] = {}
    assert writes(facts_of(found, are_answers_known=False))[-1] == ("Apply", "PodDisruptionBudget")
    assert ("Apply", "Service") not in writes(facts_of(found, are_answers_known=False))


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        pytest.param([{"uid": "uid-1"}], Remake, id="ours-is-made-anew"),
        pytest.param([{"uid": "uid-2"}], Apply, id="of-another-owner-the-server-will-refuse"),
        pytest.param([], Apply, id="of-nobody-the-server-will-refuse"),
    ],
)
def test_a_binding_to_another_role(owners: list[dict[str, Any]], expected: type) -> None:
    found = manifests()
    found["RoleBinding"]["roleRef"] = {**found["RoleBinding"]["roleRef"], "name": "other"}
    found["RoleBinding"]["metadata"]["ownerReferences"] = owners
    steps = gateway_steps(BLUEPRINT, facts_of(found, are_answers_known=False))
    write = next(step.write for step in steps if step.write.manifest["kind"] == "RoleBinding")
    assert isinstance(write, expected)
    assert write.manifest["roleRef"]["name"] == "inst-gateway"


def test_rendering_is_remembered_until_an_input_changes() -> None:
    memory = BlueprintMemory(IMAGES)
    first = memory.of(an_instance())
    assert memory.of(an_instance(status={"phase": "Ready"}, meta={"resourceVersion": "8"})) is first
    assert memory.of(an_instance(gateway={"replicas": 3})) is not first
    replaced = memory.of(an_instance(meta={"uid": "uid-2"}))
    assert replaced.gateway()[0].manifest["metadata"]["ownerReferences"][0]["uid"] == "uid-2"
    memory.forget(("ns", "inst"))
    assert memory.of(an_instance(meta={"uid": "uid-2"})) is not replaced
