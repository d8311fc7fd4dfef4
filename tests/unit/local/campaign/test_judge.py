"""Does the judge see what matters, and overlook what no two runs have in common?"""

import copy
from collections import Counter
from typing import Any

import pytest

from firebolt_local.campaign.faults.requests import RequestKind, RequestName
from firebolt_local.campaign.judge.comparison import differences
from firebolt_local.campaign.judge.history import made, made_too_often, unserved
from firebolt_local.campaign.judge.normal import Lens, Picture, picture
from firebolt_local.campaign.judge.verdict import Reference, reference_of
from firebolt_local.testing.ledger import Change
from firebolt_operator.refs import Manifest

UID = "aaaaaaaa-0000-0000-0000-00000000000{}"


def an_object(kind: str, name: str, number: int = 1, **fields: Any) -> Manifest:
    metadata = {"name": name, "namespace": "left", "uid": UID.format(number), "resourceVersion": "5"}
    return {"kind": kind, "metadata": metadata | fields.pop("metadata", {}), **fields}


def a_world() -> dict[tuple[str, str], Manifest]:
    engine = an_object("FireboltEngine", "eng", 1, spec={"replicas": 2}, status={"switchedAt": "2026-01-01T10:00:00Z"})
    owner = {"kind": "FireboltEngine", "name": "eng", "uid": UID.format(1)}
    statefulset = an_object(
        "StatefulSet",
        "eng-g1",
        2,
        metadata={"ownerReferences": [owner], "annotations": {"config": "0123456789abcdef0123"}},
        spec={"replicas": 2, "host": "eng-g1-0.left.svc", "firebolt.io/generation": "1"},
        status={"replicas": 2, "observedGeneration": 7},
    )
    secret = an_object("Secret", "eng-secret", 3, data={"password": "eA=="})
    slices = [
        an_object("EndpointSlice", f"eng-x{n}", 4 + n, metadata={"ownerReferences": [owner]}, endpoints=[])
        for n in range(2)
    ]
    return {(each["kind"], each["metadata"]["name"]): each for each in (engine, statefulset, secret, *slices)}


def changed(path: str, value: Any) -> dict[tuple[str, str], Manifest]:
    """`StatefulSet eng-g1/spec/replicas`."""
    world = copy.deepcopy(a_world())
    kind, rest = path.split(" ")
    name, *steps, last = rest.split("/")
    node: Any = world[kind, name]
    for step in steps:
        node = node[step]
    node[last] = value
    return world


def seen(world: dict[tuple[str, str], Manifest], **lens: Any) -> Picture:
    return picture(world, Lens("left", **lens))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("FireboltEngine eng/status/switchedAt", "2026-02-02T11:11:11.5Z"),
        ("FireboltEngine eng/metadata/resourceVersion", "9"),
        ("StatefulSet eng-g1/status/observedGeneration", 9),
        ("StatefulSet eng-g1/metadata/annotations/config", "fedcba9876543210fedc"),
        ("Secret eng-secret/data/password", "eQ=="),
        ("EndpointSlice eng-x0/metadata/name", "eng-x9"),
    ],
)
def test_what_differs_from_run_to_run_is_overlooked(path: str, value: Any) -> None:
    assert differences(seen(changed(path, value)), seen(a_world())) == []


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("StatefulSet eng-g1/spec/replicas", 3, "StatefulSet eng-g1.spec.replicas: is 3, not 2"),
        ("StatefulSet eng-g1/status/replicas", 1, "StatefulSet eng-g1.status.replicas: is 1, not 2"),
        ("Secret eng-secret/data", {"key": "eA=="}, "Secret eng-secret.keys[0]: is key, not password"),
        (
            "StatefulSet eng-g1/metadata/ownerReferences",
            [{"kind": "FireboltEngine", "name": "eng", "uid": UID.format(9)}],
            "StatefulSet eng-g1.metadata.ownerReferences[0].uid: is of nobody, not of FireboltEngine eng",
        ),
        ("FireboltEngine eng/spec", {}, "FireboltEngine eng.spec.replicas: is missing; wanted 2"),
    ],
)
def test_what_matters_is_told(path: str, value: Any, expected: str) -> None:
    assert [str(each) for each in differences(seen(changed(path, value)), seen(a_world()))] == [expected]


def test_an_object_too_much_or_too_little_is_told() -> None:
    less = a_world()
    del less["Secret", "eng-secret"]
    assert [each.path for each in differences(seen(less), seen(a_world()))] == ["Secret eng-secret"]
    assert [each.path for each in differences(seen(a_world()), seen(less))] == ["Secret eng-secret"]


def test_of_objects_with_random_names_the_number_counts() -> None:
    less = a_world()
    del less["EndpointSlice", "eng-x1"]
    assert [each.path for each in differences(seen(less), seen(a_world()))] == ["EndpointSlice of eng (2)"]


def test_generations_count_unless_one_looks_past_them() -> None:
    world = a_world()
    later = {("StatefulSet", "eng-g4"): changed("StatefulSet eng-g1/metadata/name", "eng-g4")["StatefulSet", "eng-g1"]}
    later["StatefulSet", "eng-g4"]["spec"] = {
        "replicas": 2,
        "host": "eng-g4-0.left.svc",
        "firebolt.io/generation": "4",
    }
    moved = {key: each for key, each in world.items() if key[0] != "StatefulSet"} | later
    assert differences(seen(moved), seen(world)) != []
    assert differences(seen(moved, without_generations=True), seen(world, without_generations=True)) == []


def test_what_two_runs_without_a_fault_disagree_on_is_noise() -> None:
    def a_reference(world: dict[tuple[str, str], Manifest]) -> Reference:
        passed = (RequestName(RequestKind("patch", "services"), 1),)
        return Reference(seen(world), frozenset(), Counter({"Pod eng-g1-0": 1}), passed)

    reference = reference_of(a_reference(a_world()), a_reference(changed("StatefulSet eng-g1/status/replicas", 5)))
    assert reference.problems(seen(changed("StatefulSet eng-g1/status/replicas", 9))) == []
    assert reference.problems(seen(changed("StatefulSet eng-g1/spec/replicas", 9))) != []


def test_what_is_made_a_second_time_is_told() -> None:
    def a_change(number: int) -> Change:
        return Change(number, "Pod", "eng-g1-0", an_object("Pod", "eng-g1-0", number, metadata={"labels": {}}))

    once = [a_change(1), a_change(1)]
    assert made_too_often(once, made(once)) == []
    assert made_too_often([*once, a_change(2)], made(once)) == ["Pod eng-g1-0 was made 1 time(s) too often"]


def test_a_moment_without_a_service_is_told() -> None:
    status = {"activeGeneration": 1, "currentGeneration": 1}
    assert len(unserved([Change(1, "FireboltEngine", "eng", an_object("FireboltEngine", "eng", status=status))], "eng"))


def test_conditions_are_told_apart_by_their_type_not_by_their_order() -> None:
    told = [{"type": kind, "status": "True"} for kind in ("Ready", "Stalled")]
    left, right = (changed("FireboltEngine eng/status", {"conditions": each}) for each in (told, told[::-1]))
    assert differences(seen(left), seen(right)) == []
    other = changed("FireboltEngine eng/status", {"conditions": [told[0], {"type": "Stalled", "status": "False"}]})
    assert [each.path for each in differences(seen(other), seen(right))] == [
        "FireboltEngine eng.status.conditions.Stalled.status"
    ]


def test_what_auto_stop_did_last_is_the_past_of_an_edited_engine() -> None:
    left, right = (changed("FireboltEngine eng/status", {"autoStopReason": word}) for word in ("Idle", "Initializing"))
    assert differences(seen(left), seen(right)) != []
    assert differences(seen(left, without_generations=True), seen(right, without_generations=True)) == []


def test_what_cert_manager_keeps_a_key_in_for_a_moment_is_not_counted() -> None:
    passing = an_object("Secret", "key-x7z2q", metadata={"labels": {"cert-manager.io/next-private-key": "true"}})
    assert made([Change(1, "Secret", "key-x7z2q", passing)]) == Counter()
