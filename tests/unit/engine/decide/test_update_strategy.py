from typing import Any

import pytest

from firebolt_operator.api.resources import STATEFULSETS
from firebolt_operator.engine.decide.update_strategy import update_strategy_patches
from firebolt_operator.engine.plan import Patch
from firebolt_operator.engine.views import Child
from tests.support.engines import UID, a_child, a_generation, some_facts

ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}


def rolling(name: str, **fields: Any) -> Child:
    return a_child(name, spec={"replicas": 2, "updateStrategy": ROLLING}, **fields)


def patched(**generations: Child) -> tuple[Patch, ...]:
    facts = {name: a_generation(0, statefulset=statefulset) for name, statefulset in generations.items()}
    return update_strategy_patches(some_facts(**facts), UID)


def test_given_pods_that_would_be_replaced_in_place_then_the_default_of_the_api_server_goes_with_the_strategy() -> None:
    found = rolling("eng-g0")
    change = {"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": None}}}
    assert patched(current=found) == (Patch(STATEFULSETS, found, change),)


def test_given_two_generations_then_each_is_patched_once() -> None:
    new, old = rolling("eng-g1"), rolling("eng-g0")
    found = patched(current=new, active=new, draining=old)
    assert [patch.child.metadata.name for patch in found] == ["eng-g1", "eng-g0"]


@pytest.mark.parametrize(
    "statefulset",
    [
        pytest.param(rolling("eng-g0", owner="another"), id="somebody-elses"),
        pytest.param(rolling("eng-g0", deleting=True), id="on-its-way-out"),
        pytest.param(a_child("eng-g0", spec={"updateStrategy": {"type": "OnDelete"}}), id="as-it-should-be"),
    ],
)
def test_what_is_left_alone(statefulset: Child) -> None:
    assert patched(current=statefulset) == ()
