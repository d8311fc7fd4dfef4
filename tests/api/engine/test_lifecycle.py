"""An engine from its creation to its rest, on real controllers."""

import pytest

from firebolt_local.cluster.scrape import Behaviour, ScrapeControl
from firebolt_operator.api.names import FINALIZER_ENGINE, LABEL_ENGINE, LABEL_GENERATION
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINES, PODS, SERVICES, STATEFULSETS
from firebolt_operator.refs import Manifest
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person, generation, serving
from tests.api.engine.running import Operator, condition, look_again

NEW_LABEL: Manifest = {"metadata": {"labels": {"edited": "yes"}}}


async def test_a_new_engine_serves_and_then_costs_nothing(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=2)
    engine = await operator.until_at_rest(0)
    assert engine.metadata.finalizers == [FINALIZER_ENGINE]
    assert await person.children() == serving(0)
    status = engine.status
    assert (status.phase, status.replicas, status.ready_replicas) == ("stable", 2, 2)
    assert (status.current_generation, status.draining_generation) == (0, None)
    assert status.selector == "firebolt.io/engine=eng,firebolt.io/generation=0"
    ready = condition(engine)
    assert (ready.status, ready.reason, ready.message) == (
        "True",
        "EngineReady",
        "Engine is serving traffic on generation 0",
    )
    assert ready.observed_generation == engine.metadata.generation
    await operator.stays_at_rest(0)


async def test_every_object_names_its_engine_as_owner_and_its_generation(operator: Operator, person: Person) -> None:
    await person.make_instance()
    engine = await person.make_engine()
    await operator.until_at_rest(0)
    labels = {LABEL_ENGINE: "eng", LABEL_GENERATION: "0"}
    wanted = {
        (STATEFULSETS, "eng-g0"): labels,
        (SERVICES, "eng-g0-hl"): labels,
        (CONFIG_MAPS, "eng-g0-config"): labels,
        (SERVICES, "eng-service"): {LABEL_ENGINE: "eng"},  # outlives generations
    }
    for (resource, name), expected in wanted.items():
        metadata = (await person.read(resource, name))["metadata"]
        owner = metadata["ownerReferences"][0]
        assert metadata["labels"] == expected
        assert (owner["uid"], owner["controller"]) == (engine["metadata"]["uid"], True)
    assert await person.names(PODS, f"{LABEL_ENGINE}=eng,{LABEL_GENERATION}=0") == {"eng-g0-0"}


async def test_the_first_passes_each_write_one_thing_and_go_on(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=0)
    await operator.until_at_rest(0)
    await operator.settled()
    told = [(run.outcome.reason, look_again(run)) for run in operator.engines.of("eng") if run.outcome]
    chain = [pair for index, pair in enumerate(told) if index == 0 or pair != told[index - 1]]
    assert [reason for reason, _ in chain] == [
        "finalizer added",
        "status initialised",
        "waiting for pods, 0 of 0 ready",
        "all pods are ready",
        "first generation serves",
        "at rest",
    ]
    assert [str(after) for _, after in chain] == ["at once", "at once", "0:00:05", "at once", "at once", "0:00:30"]


async def test_an_engine_without_replicas_is_stopped_from_the_start(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=0)
    engine = await operator.until_at_rest(0)
    ready = condition(engine)
    assert (engine.status.phase, ready.status, ready.reason, ready.message) == (
        "stopped",
        "False",
        "Stopped",
        "Engine is stopped (spec.replicas is 0)",
    )
    assert await person.children() == serving(0)
    await operator.stays_at_rest(0)


async def test_scaling_to_zero_and_back_takes_a_generation_each(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=3)
    await operator.until_at_rest(0)
    await person.edit_engine(replicas=0)
    parked = await operator.until_at_rest(1)
    assert (parked.status.phase, parked.status.replicas) == ("stopped", 0)
    await person.until_children(serving(1))
    assert (await person.read(STATEFULSETS, "eng-g1"))["spec"]["replicas"] == 0
    await person.edit_engine(replicas=3)
    woken = await operator.until_at_rest(2)
    assert (woken.status.phase, woken.status.replicas, woken.status.ready_replicas) == ("stable", 3, 3)
    await person.until_children(serving(2))
    await operator.stays_at_rest(2)


async def test_a_rollout_serves_from_the_old_generation_until_the_new_one_is_ready(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    del scrape
    await person.make_instance()
    await person.make_engine(replicas=2)
    await operator.until_at_rest(0)
    unready = {"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}}
    await person.edit_engine(template=unready)
    await person.until(PODS, "eng-g1-1", lambda pod: pod is not None and pod["status"].get("podIP"))
    rolling = await operator.until_attempt(1)
    assert (rolling.status.active_generation, rolling.status.replicas, rolling.status.ready_replicas) == (0, 2, 2)
    assert rolling.status.selector.endswith("generation=0")
    await person.annotate_pod("eng-g1-0", ready=None)
    await operator.sees(lambda: operator.pod("eng-g1-0").is_ready)
    await operator.next_pass()
    assert await person.selected_generation() == "0"  # one of two is not all
    await person.annotate_pod("eng-g1-1", ready=None)
    engine = await operator.until_at_rest(1)
    assert (engine.status.replicas, engine.status.ready_replicas) == (2, 2)
    assert await person.selected_generation() == "1"
    await person.until_children(serving(1))
    await operator.stays_at_rest(1)


async def test_a_first_generation_that_takes_queries_is_drained_when_it_is_edited(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    """The Service leads to its first ready pod before all of them are ready."""
    await person.make_instance()
    unready = {"sim.firebolt.io/ready": "false"}
    await person.make_engine(replicas=2, template={"metadata": {"annotations": unready}})
    await operator.sees(lambda: operator.caches.pods.get((person.namespace, "eng-g0-0")))
    await person.annotate_pod("eng-g0-0", ready=None)
    await operator.sees(lambda: operator.pod("eng-g0-0").is_ready)
    scrape.set_default(Behaviour(running=1))
    await person.edit_engine(template={"metadata": {"annotations": {"sim.firebolt.io/ready": None}}})
    draining = await operator.until_phase("draining")
    assert (draining.status.draining_generation, draining.status.active_generation) == (0, 1)
    assert await person.children() == serving(1) | generation(0)
    scrape.set_default(Behaviour())
    await operator.until_at_rest(1)
    await person.until_children(serving(1))


async def test_only_the_last_of_rapid_edits_ends_up_serving(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    annotations = {"sim.firebolt.io/ready": "false"}
    for number in range(1, 4):
        annotations["attempt"] = str(number)
        await person.edit_engine(template={"metadata": {"annotations": annotations}})
        await operator.until_attempt(number)
        await person.until(STATEFULSETS, f"eng-g{number}", lambda found: found is not None)
    await person.edit_engine(template={"metadata": {"annotations": {"sim.firebolt.io/ready": None, "attempt": "4"}}})
    engine = await operator.until_at_rest(4)
    assert engine.status.active_generation == 4
    await person.until_children(serving(4))
    pod = await person.read(PODS, "eng-g4-0")
    assert pod["metadata"]["annotations"]["attempt"] == "4"
    phases = {run.outcome.reason for run in operator.engines.of("eng") if run.outcome}
    assert sum(reason.startswith("new generation: abandoned") for reason in phases) == 3


async def test_a_generation_that_waits_is_never_patched(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(template={"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}})
    await person.until(STATEFULSETS, "eng-g0", lambda found: found is not None)
    before = await person.read(STATEFULSETS, "eng-g0")
    for _ in range(3):
        await operator.next_pass()
    after = await person.read(STATEFULSETS, "eng-g0")
    assert after["metadata"]["managedFields"][0]["time"] == before["metadata"]["managedFields"][0]["time"]
    assert after["metadata"]["generation"] == before["metadata"]["generation"]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"rollout": "recreate"}, id="recreate"),
        pytest.param({"drainCheckEnabled": False}, id="drain-check-off"),
    ],
)
async def test_without_a_drain_the_old_generation_goes_right_after_the_switch(
    start_operator: StartOperator, person: Person, scrape: ScrapeControl, spec: Manifest
) -> None:
    scrape.set_default(Behaviour(running=1))
    async with start_operator("--drain-settle=1h") as operator:
        await person.make_instance()
        await person.make_engine(**spec)
        await operator.until_at_rest(0)
        await person.edit_engine(template=NEW_LABEL)
        await operator.until_at_rest(1)
        await person.until_children(serving(1))
        phases = [run.outcome.reason for run in operator.engines.of("eng") if run.outcome]
        assert "deleting the old generation" in phases
        assert scrape.requests() == {}


@pytest.mark.parametrize("phase", ["switching", "draining", "cleaning"])
async def test_an_edit_during_a_transition_waits_for_its_end(
    start_operator: StartOperator, person: Person, phase: str
) -> None:
    async with start_operator() as operator:
        await person.make_instance()
        await person.make_engine()
        await operator.until_at_rest(0)
    status = {"phase": phase, "drainingGeneration": None}
    await person.patch(FIREBOLT_ENGINES, "eng", {"status": status}, subresource="status")
    await person.edit_engine(template=NEW_LABEL)
    async with start_operator() as operator:
        await operator.until_at_rest(1)
        chain = [run.outcome.reason for run in operator.engines.of("eng") if run.outcome]
        ends = {"switching": "first generation serves", "draining": "nothing drains", "cleaning": "nothing to clean"}
        assert chain[0] == ends[phase]
        assert chain[1].startswith("new generation: ")


async def test_metrics_follow_the_engine_and_go_with_it(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=2)
    await operator.until_at_rest(0)
    await operator.next_pass()
    labels = {"namespace": person.namespace, "name": "eng", "firebolt_io_instance": "inst"}

    def value(metric: str, **more: str) -> float | None:
        return operator.metrics.get_sample_value(f"firebolt_engine_{metric}", {**labels, **more})

    phases = ("creating", "switching", "draining", "cleaning", "stable", "stopped")
    assert [value("status_phase", phase=phase) for phase in phases] == [0, 0, 0, 0, 1, 0]
    assert [value("status_condition", type=kind) for kind in ("Ready", "InstanceReady")] == [1, 1]
    numbers = ("spec_replicas", "active_generation", "pods_ready", "pods_total", "draining_generation")
    assert [value(number) for number in numbers] == [2, 0, 2, 2, -1]
    assert value("last_reconciled_timestamp")
    await person.delete(FIREBOLT_ENGINES, "eng")
    await operator.until_gone()
    await operator.settled()
    families = [family for family in operator.metrics.collect() if family.name.startswith("firebolt_engine_")]
    assert [sample for family in families for sample in family.samples if "name" in sample.labels] == []
