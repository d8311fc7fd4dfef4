"""Whom does a step of a rotation wait for, when nobody can tell what an engine holds?"""

from datetime import timedelta

import pytest

from firebolt_operator.api.names import RotationStep
from firebolt_operator.auth.decide.gates import Closed, Open, gate
from firebolt_operator.auth.facts import EngineKeys, GenerationKeys
from firebolt_operator.auth.held_keys import UNKNOWN, HeldKey
from tests.support.auth import a_fleet

KEY = HeldKey("signing-1", "fp1")


@pytest.mark.parametrize("step", RotationStep)
def test_keys_that_cannot_be_told_hold_up_every_step_until_no_pod_has_them(step: RotationStep) -> None:
    def judged(*, may_run: bool) -> object:
        engine = EngineKeys(name="sales", generations=(GenerationKeys(keys=(UNKNOWN,), may_run=may_run),))
        return gate(step, KEY, a_fleet(engine), waited=timedelta(days=1))

    assert judged(may_run=True) == Closed(("sales",))
    assert judged(may_run=False) == Open()
