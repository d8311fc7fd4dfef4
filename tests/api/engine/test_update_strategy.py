"""Does anything that people do to a StatefulSet restart the pods that serve?"""

from firebolt_operator.api.names import LABEL_ENGINE
from firebolt_operator.api.resources import PODS, STATEFULSETS
from firebolt_operator.refs import Manifest
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person, serving
from tests.api.engine.running import Operator

ROLLING: Manifest = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
UNREADY: Manifest = {"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}}


async def pods(person: Person) -> dict[str, str]:
    """Those that stay, by name."""
    found = [pod["metadata"] for pod in await person.listed(PODS, f"{LABEL_ENGINE}=eng")]
    return {pod["name"]: pod["uid"] for pod in found if "deletionTimestamp" not in pod}


async def test_a_rollout_restart_restarts_no_pod_and_is_a_new_generation(
    start_operator: StartOperator, person: Person
) -> None:
    async with start_operator() as operator:
        await person.make_instance()
        await person.make_engine(replicas=2)
        await operator.until_at_rest(0)
    before = await pods(person)
    await person.kubectl("rollout", "restart", "statefulset/eng-g0")
    # Its controller tells that it has seen the edit only after it has done to the pods what it wants to do.
    await person.until(
        STATEFULSETS,
        "eng-g0",
        lambda found: found is not None and found["status"]["observedGeneration"] == found["metadata"]["generation"],
    )
    assert await pods(person) == before
    async with start_operator() as operator:
        await operator.until_at_rest(1)
        await person.until_children(serving(1))
        await operator.stays_at_rest(1)


async def test_a_statefulset_that_restarts_pods_is_changed_and_starts_no_generation(
    start_operator: StartOperator, person: Person
) -> None:
    async with start_operator() as operator:
        await person.make_instance()
        await person.make_engine(replicas=2)
        await operator.until_at_rest(0)
    # As the first release made it.
    await person.patch(STATEFULSETS, "eng-g0", {"spec": {"updateStrategy": ROLLING}})
    before = await pods(person)
    async with start_operator() as operator:
        await person.until(
            STATEFULSETS, "eng-g0", lambda found: (found or {})["spec"]["updateStrategy"] == {"type": "OnDelete"}
        )
        await operator.stays_at_rest(0)
        assert operator.requests.seen == {}
    assert await pods(person) == before


async def test_the_strategy_is_mended_in_the_middle_of_a_rollout_too(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.edit_engine(template=UNREADY)
    await person.until(STATEFULSETS, "eng-g1", lambda found: found is not None)
    for name in ("eng-g0", "eng-g1"):
        await person.patch(STATEFULSETS, name, {"spec": {"updateStrategy": ROLLING}})
        await person.until(
            STATEFULSETS, name, lambda found: (found or {})["spec"]["updateStrategy"] == {"type": "OnDelete"}
        )
    assert (await operator.until_phase("creating")).status.current_generation == 1
