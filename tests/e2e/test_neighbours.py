"""Does a sick engine harm a healthy one, and does it say what ails it?"""

import asyncio
from dataclasses import dataclass, field

import pytest

from firebolt_operator.refs import Manifest
from tests.e2e.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Sick:
    words: tuple[str, ...]  # one of them is in its condition
    spec: Manifest = field(default_factory=dict[str, object])


def _resources(**fields: Manifest) -> Manifest:
    return {"template": {"spec": {"containers": [{"name": "engine", "resources": fields}]}}}


@pytest.mark.parametrize(
    "sick",
    [
        pytest.param(
            Sick(spec={"customEngineConfig": {"no_such_key": True}}, words=("CrashLoopBackOff",)), id="crash-looping"
        ),
        pytest.param(
            Sick(spec=_resources(limits={"memory": "20Mi"}, requests={"memory": "20Mi"}), words=("OOMKilled",)),
            id="out-of-memory",
        ),
        pytest.param(
            Sick(spec=_resources(requests={"cpu": "1000"}), words=("Insufficient cpu",)),
            id="unschedulable",
        ),
    ],
)
async def test_given_a_sick_neighbour_when_it_fails_then_it_says_why_and_nobody_else_notices(
    scenario: Scenario, sick: Sick
) -> None:
    await scenario.make_resting_engine("healthy")
    before = scenario.engine("healthy")
    async with scenario.load("healthy"):
        await scenario.make_engine("sick", replicas=1, **sick.spec)
        await scenario.until(lambda: _says(scenario, sick.words), f"the sick engine to say {sick.words}")
        # An edit of the healthy one goes through beside it.
        edited = await scenario.edit("healthy", replicas=3)
        await scenario.at_rest("healthy", 3, since=edited)
        await asyncio.sleep(3)
    assert scenario.ready("sick").status == "False"
    after = scenario.engine("healthy")
    assert after.metadata.uid == before.metadata.uid
    assert after.status.active_generation == 1


def _says(scenario: Scenario, words: tuple[str, ...]) -> bool:
    found = scenario.informer.engine("sick")
    return found is not None and any(
        word in condition.message for word in words for condition in found.status.conditions
    )
