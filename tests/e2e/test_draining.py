"""Does an old generation stay for as long as one of its queries runs?"""

import asyncio

from firebolt_operator.api.resources import STATEFULSETS
from kubectl_firebolt.picture.answers import generation_of_pod
from tests.e2e.scenario import NEXT_IMAGE, Scenario

QUERY_SECONDS = 40  # longer than start, switch and settle of the new generation together


async def test_given_a_running_query_when_an_engine_changes_then_its_generation_waits_for_it(
    scenario: Scenario,
) -> None:
    await scenario.make_resting_engine("patient", drainCheckInterval="2s")
    async with scenario.load("patient"), asyncio.TaskGroup() as group:
        query = group.create_task(scenario.ask("patient", f"SELECT sleep({QUERY_SECONDS})"), name="long query")
        await asyncio.sleep(1)
        edited = await scenario.edit("patient", template=NEXT_IMAGE)
        await scenario.until(lambda: scenario.engine("patient").status.phase == "draining", "the drain")
        await scenario.until(lambda: "quer" in scenario.ready("patient").message, "the drain to say what it waits for")
        await scenario.until(lambda: query.done() or _has_left(scenario), "the query, or its engine, to end")
        assert not _has_left(scenario)
        await query
        await scenario.at_rest("patient", 2, since=edited)
    answer = query.result()
    assert (answer.problem, generation_of_pod(answer.pod)) == ("", 0)
    await scenario.until(lambda: _has_left(scenario), "the old generation to be gone")


def _has_left(scenario: Scenario) -> bool:
    old = scenario.informer.get(STATEFULSETS, "patient-g0")
    return old is None or "deletionTimestamp" in old["metadata"]
