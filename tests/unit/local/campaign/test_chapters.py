"""When is a chapter over?"""

from typing import Any

import pytest

from firebolt_local.campaign.stories.chapters import CHAPTERS, chapter
from firebolt_local.campaign.stories.logins import has_rotated
from firebolt_local.campaign.stories.steps import engine_rests, instance_rests, is_gone
from firebolt_local.errors import LocalError
from firebolt_operator.refs import Manifest


def a_world(kind: str, name: str, **fields: Any) -> dict[tuple[str, str], Manifest]:
    version = {"apiVersion": "compute.firebolt.io/v1alpha1", "kind": kind}
    metadata = {"name": name, "namespace": "shop", "uid": "u", "resourceVersion": "1", "generation": 2}
    return {(kind, name): {**version, "metadata": metadata, **fields}}


def an_engine(**status: Any) -> dict[tuple[str, str], Manifest]:
    rested = {"phase": "stable", "observedGeneration": 2, "currentGeneration": 1, "activeGeneration": 1}
    spec = {"instanceRef": "inst", "replicas": 2}
    return a_world("FireboltEngine", "eng", spec=spec, status={**rested, "readyReplicas": 2, **status})


@pytest.mark.parametrize(
    ("status", "is_over"),
    [
        ({}, True),
        ({"phase": "draining"}, False),
        ({"observedGeneration": 1}, False),
        ({"currentGeneration": 0}, False),
        ({"readyReplicas": 1}, False),
    ],
)
def test_an_engine_rests_on_its_generation(status: Any, *, is_over: bool) -> None:
    assert (engine_rests(replicas=2, generation=1)(an_engine(**status)) == []) == is_over


def test_one_without_a_status_does_not() -> None:
    assert engine_rests(replicas=2, generation=1)({}) != []
    assert instance_rests({}) != []


@pytest.mark.parametrize(
    ("phase", "seen", "is_over"), [("Ready", 2, True), ("Ready", 1, False), ("Degraded", 2, False)]
)
def test_an_instance_rests_when_it_is_ready(phase: str, seen: int, *, is_over: bool) -> None:
    status = {"phase": phase, "observedGeneration": seen}
    world = a_world("FireboltInstance", "inst", spec={"metadata": {}, "gateway": {}}, status=status)
    assert (instance_rests(world) == []) == is_over


def test_what_is_gone_is_gone() -> None:
    assert is_gone("FireboltEngine", "eng")({}) == []
    assert is_gone("FireboltEngine", "eng")(an_engine()) != []


@pytest.mark.parametrize(
    ("keys", "generation", "is_over"),
    [
        ([{"id": "signing-1"}], 2, False),
        ([{"id": "signing-1", "demotedAt": "2026-01-01T10:00:00Z"}, {"id": "signing-2"}], 2, False),
        ([{"id": "signing-1", "retireEligibleAt": "2026-01-01T10:00:00Z"}, {"id": "signing-2"}], 1, False),
        ([{"id": "signing-1", "retireEligibleAt": "2026-01-01T10:00:00Z"}, {"id": "signing-2"}], 2, True),
    ],
)
def test_a_key_is_replaced_when_engines_sign_with_the_next(keys: Any, generation: int, *, is_over: bool) -> None:
    made = [{"secretName": "s", "createdAt": "2026-01-01T10:00:00Z", **key} for key in keys]
    status = {"phase": "Ready", "observedGeneration": 2, "auth": {"signingKeys": made}}
    instance = a_world("FireboltInstance", "inst", spec={"metadata": {}, "gateway": {}}, status=status)
    engine = an_engine(currentGeneration=generation, activeGeneration=generation)
    assert (has_rotated({**instance, **engine}) == []) == is_over


def test_chapters_are_known_by_name() -> None:
    assert len({each.name for each in CHAPTERS}) == len(CHAPTERS) == 13
    assert chapter("wake").name == "wake"
    with pytest.raises(LocalError):
        chapter("sleep")
