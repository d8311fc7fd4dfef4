"""When is a status written, and what happens when somebody else wrote meanwhile?"""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from firebolt_local.cluster.scrape import Behaviour, ScrapeControl
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.resources import FIREBOLT_ENGINES, PODS
from firebolt_operator.refs import Manifest
from tests.api.engine.person import Person, serving
from tests.api.engine.running import Operator, condition

_HOUR = timedelta(hours=1)
NEW_LABEL = {"metadata": {"labels": {"edited": "yes"}}}


@pytest.fixture
async def draining(operator: Operator, person: Person, scrape: ScrapeControl) -> Operator:
    """The next pass hears that the old generation is idle, and has that to tell."""
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    scrape.set_default(Behaviour(running=1))
    await person.edit_engine(template=NEW_LABEL)
    await operator.until_phase("draining")
    await operator.next_pass()
    scrape.set_default(Behaviour())
    return operator


def before_the_next_status(operator: Operator, do: Callable[[], Awaitable[object]]) -> None:
    """Somebody is quicker than a pass that has decided already."""
    write = operator.client.update_status

    async def late(manifest: Manifest, /) -> Manifest:
        del vars(operator.client)["update_status"]
        await do()
        operator.requests.seen.clear()
        return await write(manifest)

    vars(operator.client)["update_status"] = late


async def test_an_edit_of_the_engine_during_a_pass_costs_one_more_try(draining: Operator, person: Person) -> None:
    theirs = {"metadata": {"annotations": {"theirs": "yes"}}}
    before_the_next_status(draining, lambda: person.patch(FIREBOLT_ENGINES, "eng", theirs))
    run = await draining.next_pass()
    assert (run.error, run.outcome and run.outcome.reason) == ("", "no query is running")
    assert draining.requests.seen["PUT fireboltengines"] == 2
    assert draining.requests.seen["GET fireboltengines"] == 1
    await draining.until_at_rest(1)
    await person.until_children(serving(1))
    # What the retry brought back is what the next write starts from.
    await person.delete(FIREBOLT_ENGINES, "eng")
    await draining.until_gone()
    assert [each.error for each in draining.engines.passes if each.error] == []


async def test_a_status_that_somebody_else_wrote_is_not_overwritten(draining: Operator, person: Person) -> None:
    theirs = {"status": {"autoStopReason": "Idle"}}
    before_the_next_status(draining, lambda: person.patch(FIREBOLT_ENGINES, "eng", theirs, subresource="status"))
    run = await draining.next_pass()
    assert "Operation cannot be fulfilled" in run.error
    await draining.until_at_rest(1)


def _message(engine: FireboltEngine) -> str:
    return condition(engine).message if engine.status.conditions else ""


async def test_a_condition_keeps_its_time_while_only_its_words_change(operator: Operator, person: Person) -> None:
    await person.make_instance()
    template = {"metadata": {"annotations": {"sim.firebolt.io/fault": "ImagePullBackOff"}}}
    await person.make_engine(template=template)
    first = await operator.until(lambda engine: "ImagePullBackOff" in _message(engine))
    operator.clock.skip(_HOUR)
    await person.annotate_pod("eng-g0-0", fault="CrashLoopBackOff")
    second = await operator.until(lambda engine: "CrashLoopBackOff" in _message(engine))
    assert condition(second).last_transition_time == condition(first).last_transition_time
    assert second.status.last_reconciled != first.status.last_reconciled
    await person.annotate_pod("eng-g0-0", fault=None)
    ready = await operator.until_at_rest(0)
    assert condition(ready).last_transition_time > condition(first).last_transition_time


async def test_a_status_is_written_only_with_news(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await operator.settled()
    operator.requests.seen.clear()
    # Nothing that a decision reads: labels of a pod, an annotation of the engine.
    await person.patch(PODS, "eng-g0-0", {"metadata": {"labels": {"theirs": "yes"}}})
    await person.patch(FIREBOLT_ENGINES, "eng", {"metadata": {"annotations": {"theirs": "yes"}}})
    operator.clock.skip(_HOUR)
    for _ in range(3):
        await operator.next_pass()
    assert operator.requests.seen == {}
    await person.annotate_pod("eng-g0-0", fault="OOMKilled")
    await operator.until(lambda engine: engine.status.ready_replicas == 0)
    await operator.settled()
    assert operator.requests.seen["PUT fireboltengines"] == 1
