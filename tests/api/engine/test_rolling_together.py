"""Engines of one class under --max-rolling: a bad class stops by itself, and a mended one reaches everybody."""

from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, is_at_rest, message, reason

NAMES = ("one", "three", "two")
BROKEN = {"metadata": {"annotations": {"sim.firebolt.io/fault": "ImagePullBackOff"}}}
MENDED = {"metadata": {"annotations": {"sim.firebolt.io/fault": None, "mended": "yes"}}}


def standing(operator: Operator) -> list[str]:
    """By name: how far each engine is."""
    found = [operator.engine(name) for name in NAMES]
    return [f"{each.status.phase} {reason(each, 'Reconciling')}".strip() for each in found if each is not None]


async def test_a_class_that_cannot_start_stops_by_itself_and_a_mended_one_reaches_everybody(
    start_operator: StartOperator, person: Person
) -> None:
    async with start_operator("--max-rolling=1") as operator:
        await person.make_instance()
        await person.make_class()
        for name in NAMES:
            await person.make_engine(name, engineClassRef="big")
        for name in NAMES:
            await operator.until_at_rest(0, name)
        await person.edit_class(template=BROKEN)
        await operator.sees(lambda: standing(operator) == ["creating Rolling", "stable Queued", "stable Queued"])
        await operator.until(lambda engine: "ImagePullBackOff" in message(engine), "one")
        for name in ("three", "two"):
            waiting = await operator.until_reason("Queued", "Reconciling", name)
            assert (reason(waiting), waiting.status.rollout_cause) == ("EngineReady", f"class {person.namespace}/big")
        assert [await person.selected_generation(name) for name in NAMES] == ["0", "0", "0"]
        # Whoever edits an engine waits for nobody.
        await person.edit_engine("two", engineClassRef=None)
        done = await operator.until(lambda engine: is_at_rest(engine, 1), "two")
        assert done.status.rollout_cause == ""
    # A new process knows who has a place from what is stored.
    async with start_operator("--max-rolling=1") as operator:
        await operator.settled()
        assert standing(operator) == ["creating Rolling", "stable Queued", "stable"]
        await person.edit_class(template=MENDED)
        for name in ("one", "three"):
            arrived = await operator.until(
                lambda engine: is_at_rest(engine) and engine.status.active_generation > 0, name
            )
            assert arrived.status.rollout_cause == ""
