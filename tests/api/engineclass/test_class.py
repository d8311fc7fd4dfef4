"""Is a class judged, counted and guarded as its engines come and go?"""

from collections.abc import Callable
from datetime import timedelta

import pytest

from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.names import FINALIZER_ENGINE_CLASS
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES
from firebolt_operator.refs import Manifest, Ref
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, condition, look_again

HALF_MINUTE = timedelta(seconds=30)
HOLD = "example.com/hold"
HOSTNAME = "spec.template.spec.hostname: Forbidden: hostname is owned by the operator"


def counts(number: int) -> Callable[[FireboltEngineClass], bool]:
    return lambda found: found.status.conditions != [] and found.status.bound_engines == number


def blocked_message(person: Person, number: int) -> str:
    return (
        f'FireboltEngineClass "big" in namespace "{person.namespace}" is referenced by {number} FireboltEngine(s);'
        " clear spec.engineClassRef on those engines before deleting the class"
    )


async def rests(operator: Operator, name: str = "big") -> FireboltEngineClass:
    """Passes that find nothing to do ask nothing of the API server."""
    await operator.settled()
    operator.requests.seen.clear()
    for _ in range(2):
        run = await operator.next_class_pass(name)
        assert (run.error, look_again(run)) == ("", HALF_MINUTE)
    assert operator.requests.seen == {}
    found = operator.engine_class(name)
    assert found is not None
    return found


async def test_a_new_class_is_judged_and_then_costs_nothing(operator: Operator, person: Person) -> None:
    await person.make_class(template={"metadata": {"labels": {"size": "big"}}})
    found = await operator.until_class("big", counts(0))
    ready = condition(found)
    assert (ready.status, ready.reason, ready.message) == (
        "True",
        "Admissible",
        "spec.template contains no operator-owned paths",
    )
    assert found.metadata.finalizers == [FINALIZER_ENGINE_CLASS]
    assert found.status.observed_generation == ready.observed_generation == found.metadata.generation
    assert look_again(operator.classes.ended("big")[0]) == "at once"  # the finalizer first
    await rests(operator)


async def test_a_class_that_says_nothing_at_all_is_admissible(operator: Operator, person: Person) -> None:
    await person.client.create(person.manifest(FIREBOLT_ENGINE_CLASSES, "big"))
    assert condition(await operator.until_class("big", counts(0))).reason == "Admissible"
    await person.make_instance()
    await person.make_engine(replicas=0, engineClassRef="big")
    await operator.until_at_rest(0)
    await operator.until_class("big", counts(1))
    await rests(operator)


async def test_owned_fields_are_told_until_they_are_gone(operator: Operator, person: Person) -> None:
    await person.make_class(template={"spec": {"hostname": "x", "subdomain": "y"}})
    bad = await operator.until_class("big", counts(0))
    both = f"[{HOSTNAME}, {HOSTNAME.replace('hostname', 'subdomain')}]"
    assert (condition(bad).status, condition(bad).reason) == ("False", "OperatorOwnedFieldSet")
    assert sorted(condition(bad).message.strip("[]").split(", ")) == sorted(both.strip("[]").split(", "))
    await person.edit_class(template={"spec": {"subdomain": None}})
    await operator.until_class("big", lambda found: condition(found).message == HOSTNAME)
    await person.edit_class(template={"spec": {"hostname": None}})
    good = await operator.until_class("big", lambda found: condition(found).is_true)
    assert good.status.observed_generation == good.metadata.generation == 3
    await rests(operator)


async def test_an_edit_that_changes_no_verdict_is_still_observed(operator: Operator, person: Person) -> None:
    await person.make_class()
    before = await operator.until_class("big", counts(0))
    await person.edit_class(rollout="recreate")
    after = await operator.until_class("big", lambda found: found.status.observed_generation == 2)
    assert condition(after).last_transition_time == condition(before).last_transition_time
    await rests(operator)


async def test_engines_are_counted_as_they_come_turn_and_go(operator: Operator, person: Person) -> None:
    await person.make_class("big")
    await person.make_class("small")
    await person.make_engine("one", replicas=0, engineClassRef="big")
    await person.make_engine("two", replicas=0, engineClassRef="big")
    await person.make_engine("three", replicas=0)
    await operator.until_class("big", counts(2))
    await operator.until_class("small", counts(0))
    await person.edit_engine("two", engineClassRef="small")
    await operator.until_class("big", counts(1))
    await operator.until_class("small", counts(1))
    await person.edit_engine("two", engineClassRef=None)
    await operator.until_class("small", counts(0))
    await person.delete(FIREBOLT_ENGINES, "one")
    await operator.until_class("big", counts(0))
    for name in ("big", "small"):
        await rests(operator, name)


async def test_a_class_in_use_waits_for_its_engines_and_says_so(operator: Operator, person: Person) -> None:
    await person.make_class(template={"spec": {"hostname": "x"}})
    await person.make_engine("one", replicas=0, engineClassRef="big")
    await person.make_engine("two", replicas=0, engineClassRef="big")
    await operator.until_class("big", counts(2))
    await person.delete(FIREBOLT_ENGINE_CLASSES, "big")
    blocked = await operator.until_class("big", lambda found: condition(found).reason == "DeletionBlocked")
    # Not what is wrong with its template: why a deletion hangs must be plain.
    assert (condition(blocked).status, condition(blocked).message) == ("False", blocked_message(person, 2))
    assert look_again(await operator.next_class_pass("big")) == HALF_MINUTE
    await person.edit_engine("one", engineClassRef=None)
    one_left = await operator.until_class("big", counts(1))
    assert condition(one_left).message == blocked_message(person, 1)
    assert blocked_message(person, 1) in await person.kubectl("describe", "firengc", "big")
    await person.delete(FIREBOLT_ENGINES, "two")
    await person.until_gone(FIREBOLT_ENGINE_CLASSES, "big")


async def test_an_engine_that_is_being_deleted_counts_until_it_is_gone(operator: Operator, person: Person) -> None:
    await person.make_class()
    await person.make_engine("one", replicas=0, engineClassRef="big")
    await person.patch(FIREBOLT_ENGINES, "one", {"metadata": {"finalizers": [HOLD]}})
    await operator.until_class("big", counts(1))
    await person.delete(FIREBOLT_ENGINES, "one")
    await person.delete(FIREBOLT_ENGINE_CLASSES, "big")
    await operator.until_class("big", lambda found: condition(found).reason == "DeletionBlocked")
    await operator.next_class_pass("big")
    assert await person.find(FIREBOLT_ENGINE_CLASSES, "big")
    await person.release(FIREBOLT_ENGINES, "one")
    await person.until_gone(FIREBOLT_ENGINE_CLASSES, "big")


async def test_an_engine_that_the_operator_does_not_watch_guards_its_class_as_well(
    start_operator: StartOperator, person: Person
) -> None:
    watched = {"watched": "yes"}
    await person.make_engine("hidden", replicas=0, engineClassRef="big")
    async with start_operator("--watch-label-selector=watched=yes") as operator:
        await person.make_class(labels=watched)
        await operator.until_class("big", counts(0))  # what is reported is what is watched
        await person.delete(FIREBOLT_ENGINE_CLASSES, "big")
        blocked = await operator.until_class("big", lambda found: condition(found).reason == "DeletionBlocked")
        assert (blocked.status.bound_engines, condition(blocked).message) == (1, blocked_message(person, 1))
        await person.edit_engine("hidden", engineClassRef=None)
        # It raises no event: the next look of the half minute finds out.
        assert look_again(operator.classes.ended("big")[-1]) == HALF_MINUTE
        await operator.next_class_pass("big")
        await person.until_gone(FIREBOLT_ENGINE_CLASSES, "big")


@pytest.mark.parametrize("finalizers", [[HOLD], [HOLD, FINALIZER_ENGINE_CLASS]], ids=["without-ours", "with-ours"])
async def test_a_deleted_class_that_others_hold_gets_no_new_finalizer(
    start_operator: StartOperator, person: Person, finalizers: list[str]
) -> None:
    await person.make_class()
    await person.patch(FIREBOLT_ENGINE_CLASSES, "big", {"metadata": {"finalizers": finalizers}})
    await person.delete(FIREBOLT_ENGINE_CLASSES, "big")
    async with start_operator() as operator:
        await person.until(
            FIREBOLT_ENGINE_CLASSES,
            "big",
            lambda found: found is not None and found["metadata"]["finalizers"] == [HOLD],
        )
        operator.requests.seen.clear()
        run = await operator.next_class_pass("big")
        assert (run.error, look_again(run), operator.requests.seen) == ("", "never", {})
    await person.release(FIREBOLT_ENGINE_CLASSES, "big")


async def test_a_class_of_another_namespace_is_another_class(operator: Operator, person: Person) -> None:
    await person.make_class()
    manifest: Manifest = person.manifest(FIREBOLT_ENGINES, "far", spec={"instanceRef": "inst", "replicas": 0})
    manifest["spec"]["engineClassRef"] = "big"
    manifest["metadata"]["namespace"] = "default"
    made = await person.client.create(manifest)
    try:
        await person.delete(FIREBOLT_ENGINE_CLASSES, "big")
        await person.until_gone(FIREBOLT_ENGINE_CLASSES, "big")
    finally:
        await person.client.delete(Ref(FIREBOLT_ENGINES, "default", "far"), uid=made["metadata"]["uid"])
    assert operator.engine_class("big") is None
