"""Does one engine's trouble reach another one?"""

from firebolt_local.cluster.scrape import Behaviour, Mode, ScrapeControl
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, condition, until_scraped

NEW_LABEL = {"metadata": {"labels": {"edited": "yes"}}}


async def test_pods_that_never_answer_delay_no_other_engine(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await person.make_instance()
    await person.make_engine("stuck", replicas=2)
    await person.make_engine("free")
    for name in ("stuck", "free"):
        await operator.until_at_rest(0, name)
    for pod in ("stuck-g0-0", "stuck-g0-1"):
        scrape.set(person.namespace, pod, Behaviour(mode=Mode.BLACK_HOLE))
    await person.edit_engine("stuck", template=NEW_LABEL)
    await operator.until_phase("draining", "stuck")
    await until_scraped(scrape)
    await person.edit_engine("free", template=NEW_LABEL)
    await operator.until_at_rest(1, "free")
    failing = await operator.until_reason("DrainCheckFailing", name="stuck")
    assert condition(failing).message.startswith("drain probe failed on pod stuck-g0-0 (gen 0): ")
    assert await person.selected_generation("stuck") == "1"
