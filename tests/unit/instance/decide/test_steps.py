"""Only what differs is written, nothing that is going away, and no object of somebody else is deleted."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from firebolt_operator.instance.decide.steps import gateway_steps, unconfirmed
from firebolt_operator.instance.facts import Answer, InstanceFacts
from firebolt_operator.instance.plan import Refuse, Remake, Unknown
from firebolt_operator.instance.render.renderer import MemoisedRenderers
from firebolt_operator.manifests.live_objects import decode_live
from firebolt_operator.manifests.references import ref_of
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.tls.facts import SecretRevisions
from tests.support.instances import BLUEPRINTS, IMAGES, an_instance, some_facts

INSTANCE = an_instance()
NOTHING = SecretRevisions()
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
        credentials=facts.credentials,
        metadata_service=facts.metadata_service,
        gateway=facts.gateway,
        live=live,
        answers=answers,
    )


def writes(facts: InstanceFacts) -> list[tuple[str, str]]:
    return [
        (type(step.write).__name__, step.write.manifest["kind"]) for step in gateway_steps(BLUEPRINT, facts, NOTHING)
    ]


def test_what_is_there_is_not_written() -> None:
    assert writes(facts_of(manifests())) == []


def test_given_a_restart_then_what_the_server_knows_us_to_have_applied_is_not_applied_again() -> None:
    """Nobody remembers an answer; the fields that are ours tell."""
    found = manifests()
    rules: Manifest = {"f:rules": {}, "f:metadata": {"f:labels": {}, "f:ownerReferences": {}}}
    applied = {"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": rules}
    found["Role"]["metadata"]["managedFields"] = [applied]
    assert ("Apply", "Role") not in writes(facts_of(found, are_answers_known=False))


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
        pytest.param([{"uid": "uid-2"}], Refuse, id="of-another-owner-is-left-alone"),
        pytest.param([], Refuse, id="of-nobody-is-left-alone"),
    ],
)
def test_a_binding_to_another_role(owners: list[dict[str, Any]], expected: type) -> None:
    found = manifests()
    found["RoleBinding"]["roleRef"] = {**found["RoleBinding"]["roleRef"], "name": "other"}
    found["RoleBinding"]["metadata"]["ownerReferences"] = owners
    steps = gateway_steps(BLUEPRINT, facts_of(found, are_answers_known=False), NOTHING)
    write = next(step.write for step in steps if step.write.manifest["kind"] == "RoleBinding")
    assert isinstance(write, expected)
    assert write.manifest["roleRef"]["name"] == "inst-gateway"


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        pytest.param({"ownerReferences": []}, "has no owner", id="of-nobody"),
        pytest.param(
            {"ownerReferences": [{"kind": "A", "name": "a"}, {"kind": "App", "name": "x", "controller": True}]},
            "belongs to App x",
            id="of-a-controller",
        ),
        pytest.param({"ownerReferences": [{"kind": "A", "name": "a"}]}, "belongs to A a", id="of-an-owner"),
    ],
)
@pytest.mark.parametrize("kind", sorted(manifests()))
def test_somebody_elses_object_is_refused_even_if_it_says_the_same(kind: str, metadata: Manifest, words: str) -> None:
    found = manifests()
    found[kind]["metadata"].update(metadata)
    steps = gateway_steps(BLUEPRINT, facts_of(found, are_answers_known=False), NOTHING)
    refused = [step.write for step in steps if isinstance(step.write, Refuse)]
    name = found[kind]["metadata"]["name"]
    problem = f"{kind} ns/{name} exists and {words}; delete it, or give the instance another name"
    assert [(each.manifest["kind"], each.problem) for each in refused] == [(kind, problem)]


def test_given_an_object_of_ours_whose_owner_was_taken_away_then_it_is_put_back() -> None:
    found = manifests()
    applied = {"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": {"f:spec": {}}}
    found["Service"]["metadata"].update(ownerReferences=[], managedFields=[applied])
    assert ("Apply", "Service") in writes(facts_of(found, are_answers_known=False))


def test_given_an_object_that_cannot_be_read_then_it_is_left_alone() -> None:
    found = manifests()
    unseen = ref_of(found.pop("Role"))
    facts = replace(facts_of(found), unreadable={unseen: "roles is forbidden"})
    (step,) = gateway_steps(BLUEPRINT, facts, NOTHING)
    assert (step.write, step.reason) == (Unknown(manifests()["Role"], "roles is forbidden"), "ProbeFailed")
    assert unconfirmed([step], facts) == ()


def test_only_what_no_live_read_told_of_has_to_be_confirmed() -> None:
    found = manifests()
    missing = ref_of(found.pop("Role")), ref_of(found.pop("Service"))
    found["PodDisruptionBudget"]["spec"] = {}  # it is there and will be changed
    facts = facts_of(found, are_answers_known=False)
    steps = gateway_steps(BLUEPRINT, facts, NOTHING)
    assert set(unconfirmed(steps, facts)) == set(missing)
    assert unconfirmed(steps, replace(facts, confirmed=frozenset(missing))) == ()


def test_rendering_is_remembered_until_an_input_changes() -> None:
    memory = MemoisedRenderers(IMAGES)
    first = memory.of(an_instance())
    assert memory.of(an_instance(status={"phase": "Ready"}, meta={"resourceVersion": "8"})) is first
    assert memory.of(an_instance(gateway={"replicas": 3})) is not first
    replaced = memory.of(an_instance(meta={"uid": "uid-2"}))
    assert replaced.gateway()[0].manifest["metadata"]["ownerReferences"][0]["uid"] == "uid-2"
    memory.forget("ns", "inst")
    assert memory.of(an_instance(meta={"uid": "uid-2"})) is not replaced
