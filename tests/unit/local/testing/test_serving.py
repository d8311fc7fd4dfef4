"""Does the judge of histories see a moment without a query target, and forgive only what is decided so?"""

from typing import Any

import pytest

from firebolt_local.testing.ledger import Change
from firebolt_local.testing.serving import gaps
from firebolt_operator.refs import Manifest


def an_engine(active: int, current: int) -> tuple[str, str, Manifest]:
    return (
        "FireboltEngine",
        "eng",
        {"metadata": {}, "status": {"activeGeneration": active, "currentGeneration": current}},
    )


def a_service(generation: int) -> tuple[str, str, Manifest]:
    return "Service", "eng-service", {"spec": {"selector": {"firebolt.io/generation": str(generation)}}}


def pods(generation: int, *ready: bool) -> list[tuple[str, str, Manifest]]:
    statefulset = ("StatefulSet", f"eng-g{generation}", {"metadata": {}, "spec": {"replicas": len(ready)}})
    return [statefulset, *(a_pod(generation, ordinal, is_ready) for ordinal, is_ready in enumerate(ready))]


def a_pod(generation: int, ordinal: int, is_ready: bool) -> tuple[str, str, Manifest]:
    conditions = [{"type": "Ready", "status": str(is_ready)}]
    return "Pod", f"eng-g{generation}-{ordinal}", {"metadata": {}, "status": {"conditions": conditions}}


def history(*states: tuple[str, str, Manifest]) -> list[Change]:
    return [Change(version, kind, name, after) for version, (kind, name, after) in enumerate(states, start=1)]


ABANDONED = (an_engine(-1, 0), a_service(0), *pods(0, True, False), an_engine(0, 1))


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        pytest.param((a_service(0), *pods(0, True, True), an_engine(0, 0)), 0, id="whole"),
        pytest.param((a_service(0), *pods(0, True, False), an_engine(0, 0)), 1, id="too-early"),
        pytest.param(ABANDONED, 0, id="a-first-one-that-was-abandoned"),
        pytest.param((*ABANDONED, a_pod(0, 0, is_ready=False)), 1, id="and-has-nobody-left"),
        pytest.param((*ABANDONED, *pods(1, True, False), a_service(1)), 1, id="and-the-next-is-not-whole"),
        pytest.param((*ABANDONED, *pods(1, True, True), a_service(1), an_engine(1, 1)), 0, id="and-the-next-is"),
        pytest.param(
            (a_service(0), *pods(0, True, True), an_engine(0, 0), *pods(1, True, False), a_service(1)), 1, id="switched"
        ),
    ],
)
def test_every_moment_without_a_whole_query_target_is_found(states: Any, expected: int) -> None:
    assert len(gaps(history(*states), "eng")) == expected
