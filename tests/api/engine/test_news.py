"""Can people read in an engine's events what happened to it, and is nothing told while nothing happens?"""

from datetime import timedelta
from typing import Final

from firebolt_operator.api.resources import EVENTS
from tests.api.engine.person import Person
from tests.api.engine.running import Operator

AUTO_STOP: Final = {"enabled": True, "activeReplicas": 1, "idleTimeout": "10m", "pollInterval": "5s"}


async def told(person: Person) -> list[str]:
    """In the order of what happened."""
    events = [each for each in await person.listed(EVENTS) if each["regarding"]["name"] == "eng"]
    events.sort(key=lambda event: str(event["eventTime"]))
    return [f"{event['type']} {event['reason']}: {event['note']}" for event in events]


async def test_a_life_of_an_engine_is_told_in_its_events(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=1, autoStop=AUTO_STOP)
    await operator.until_at_rest(0)
    await operator.next_pass()  # the first look at its pods
    await operator.settled()
    operator.requests.seen.clear()
    for _ in range(2):
        await operator.next_pass()
    # Its pods are asked whether they run queries, and nobody is told anything.
    assert set(operator.requests.seen) <= {"GET pods/proxy"}
    await person.edit_engine(template={"metadata": {"labels": {"edited": "yes"}}})
    await operator.until_at_rest(1)
    operator.clock.skip(timedelta(minutes=11))
    await operator.next_pass()
    await operator.until_at_rest(2)
    await operator.until_phase("stopped")
    await operator.stays_at_rest(2)
    await person.ask_for_engine(operator.clock.now())
    await operator.until_at_rest(3)
    await operator.settled()
    assert await told(person) == [
        "Normal GenerationStarted: generation 0 is being made: the first one",
        "Normal Switched: queries go to generation 0",
        "Normal GenerationStarted: generation 1 is being made: spec.template.metadata.labels.edited",
        "Normal Switched: queries go to generation 1",
        "Normal Drained: generation 0 is deleted: no query is running",
        "Normal Parked: no query for as long as its idle timeout: from 1 to 0 nodes",
        "Normal GenerationStarted: generation 2 is being made: spec.replicas",
        "Normal Switched: queries go to generation 2",
        "Normal Drained: generation 1 is deleted: no query is running",
        "Normal Woken: a query waits for it: from 0 to 1 nodes",
        "Normal GenerationStarted: generation 3 is being made: spec.replicas",
        "Normal Switched: queries go to generation 3",
        "Normal Drained: generation 2 is deleted: no query is running",
    ]
