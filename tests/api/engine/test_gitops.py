"""Who decides how many nodes an engine has, when somebody applies the same file again and again?"""

import json
from datetime import timedelta

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.refs import Manifest
from tests.api.engine.person import Person
from tests.api.engine.running import Operator

AUTO_STOP: Manifest = {"enabled": True, "activeReplicas": 2, "idleTimeout": "10m"}


async def applied(person: Person, manager: str, **spec: object) -> Manifest:
    """By server-side apply, as a tool of that name does it; what another manager owns is taken."""
    manifest = person.manifest(FIREBOLT_ENGINES, "eng", spec=spec)
    words = ("apply", "--server-side", "--force-conflicts", f"--field-manager={manager}", "-f", "-")
    await person.kubectl(*words, stdin=json.dumps(manifest))
    return await person.read(FIREBOLT_ENGINES, "eng")


async def parked(operator: Operator) -> FireboltEngine:
    """Nobody has asked anything of it for long enough."""
    await operator.until(lambda engine: engine.status.last_activity_time is not None)
    operator.clock.skip(timedelta(minutes=11))
    await operator.next_pass()
    return await operator.until_phase("stopped")


async def test_what_is_applied_without_replicas_stays_parked(operator: Operator, person: Person) -> None:
    await person.make_instance()
    made = await applied(person, "tool", instanceRef="inst", autoStop=AUTO_STOP)
    assert made["spec"]["replicas"] == 1
    await operator.until_at_rest(0)
    await parked(operator)
    await operator.until_at_rest(1)
    before = await person.read(FIREBOLT_ENGINES, "eng")
    again = await applied(person, "tool", instanceRef="inst", autoStop=AUTO_STOP)
    assert (before["spec"]["replicas"], again["spec"]["replicas"]) == (0, 0)
    assert again["metadata"]["generation"] == before["metadata"]["generation"]
    await operator.stays_at_rest(1)


async def test_replicas_that_one_owned_and_drops_go_back_to_one(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await applied(person, "tool", instanceRef="inst", replicas=2)
    await operator.until_at_rest(0)
    dropped = await applied(person, "tool", instanceRef="inst")
    assert dropped["spec"]["replicas"] == 1
    await operator.until_at_rest(1)


async def test_replicas_that_are_handed_over_first_stay(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await applied(person, "tool", instanceRef="inst", replicas=2, autoStop=AUTO_STOP)
    await operator.until_at_rest(0)
    await applied(person, "auto-stop", replicas=2)
    dropped = await applied(person, "tool", instanceRef="inst", autoStop=AUTO_STOP)
    assert dropped["spec"]["replicas"] == 2
    await operator.until_at_rest(0)
    await parked(operator)
    again = await applied(person, "tool", instanceRef="inst", autoStop=AUTO_STOP)
    assert again["spec"]["replicas"] == 0


async def test_replicas_that_auto_stop_wrote_already_need_no_handing_over(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await applied(person, "tool", instanceRef="inst", replicas=2, autoStop=AUTO_STOP)
    await operator.until_at_rest(0)
    await parked(operator)
    dropped = await applied(person, "tool", instanceRef="inst", autoStop=AUTO_STOP)
    assert dropped["spec"]["replicas"] == 0


async def test_with_plain_apply_replicas_are_handed_over_by_what_was_last_applied(person: Person) -> None:
    def engine(**spec: object) -> str:
        return json.dumps(person.manifest(FIREBOLT_ENGINES, "eng", spec={"instanceRef": "inst"} | spec))

    await person.kubectl("apply", "-f", "-", stdin=engine(replicas=2))
    await person.kubectl("apply", "set-last-applied", "-f", "-", stdin=engine())
    await person.kubectl("apply", "-f", "-", stdin=engine(rollout="recreate"))
    kept = await person.read(FIREBOLT_ENGINES, "eng")
    assert (kept["spec"]["replicas"], kept["spec"]["rollout"]) == (2, "recreate")
