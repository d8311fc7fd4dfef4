"""When does a generation that no longer serves go? When its queries ended and nobody resolves to it, or time is up."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from firebolt_local.cluster.scrape import Behaviour, Mode, ScrapeControl
from firebolt_operator.api.resources import FIREBOLT_ENGINES, PODS, STATEFULSETS
from firebolt_operator.api.serialise import format_time
from firebolt_operator.refs import Manifest
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person, generation, serving
from tests.api.engine.running import Operator, condition, look_again, reason
from tests.api.engine.strangers import refused

NEW_LABEL: Manifest = {"metadata": {"labels": {"edited": "yes"}}}
BUSY = Behaviour(running=1)
SECOND = timedelta(seconds=1)


async def start_drain(operator: Operator, person: Person, scrape: ScrapeControl, **spec: Any) -> None:
    """Generation 1 serves, generation 0 does as `scrape` says; without an order it is busy."""
    await person.make_instance()
    await person.make_engine(**spec)
    await operator.until_at_rest(0)
    scrape.set_default(BUSY)
    await person.edit_engine(template=NEW_LABEL)
    await operator.until_phase("draining")


@pytest.mark.parametrize(
    "behaviour",
    [pytest.param(Behaviour(running=1), id="running"), pytest.param(Behaviour(suspended=1), id="suspended")],
)
async def test_a_busy_generation_stays_until_its_queries_ended(
    operator: Operator, person: Person, scrape: ScrapeControl, behaviour: Behaviour
) -> None:
    await start_drain(operator, person, scrape, drainCheckInterval="7s")
    scrape.set_default(behaviour)
    for _ in range(3):
        run = await operator.next_pass()
        assert look_again(run) == 7 * SECOND
    assert await person.children() == serving(1) | generation(0)
    assert await person.selected_generation() == "1"
    draining = await operator.until_phase("draining")
    assert (draining.status.active_generation, draining.status.draining_generation) == (1, 0)
    assert (condition(draining).reason, condition(draining).message) == (
        "Rolling",
        "Engine is in draining phase; generation 0 still runs queries",
    )
    scrape.set_default(Behaviour())
    await operator.next_pass()
    done = await operator.until_at_rest(1)
    assert done.status.draining_generation is None
    await person.until_children(serving(1))
    await operator.stays_at_rest(1)


async def test_one_busy_pod_of_several_is_enough_to_wait(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await start_drain(operator, person, scrape, replicas=3)
    for pod in ("eng-g0-0", "eng-g0-1"):
        scrape.set(person.namespace, pod, Behaviour())
    await operator.next_pass()
    assert (await operator.until_phase("draining")).status.draining_generation == 0
    scrape.set(person.namespace, "eng-g0-2", Behaviour())
    await operator.next_pass()
    await operator.until_at_rest(1)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        pytest.param(Behaviour(mode=Mode.ERROR), "something broke", id="the-pod-fails"),
        pytest.param(Behaviour(mode=Mode.REFUSE), "", id="the-pod-cannot-be-reached"),
        pytest.param(Behaviour(mode=Mode.GARBAGE), "lacks firebolt_running_queries", id="the-answer-is-no-metrics"),
        pytest.param(
            Behaviour(body="firebolt_running_queries 0\n"), "lacks firebolt_suspended_queries", id="a-gauge-is-missing"
        ),
    ],
)
async def test_a_failing_probe_is_shown_and_counts_as_busy(
    operator: Operator, person: Person, scrape: ScrapeControl, behaviour: Behaviour, words: str
) -> None:
    await start_drain(operator, person, scrape, drainCheckInterval="7s")
    scrape.set_default(behaviour)
    run = await operator.next_pass()
    assert (run.error, look_again(run)) == ("", 7 * SECOND)
    failing = await operator.until_reason("DrainCheckFailing")
    assert condition(failing).message.startswith("drain probe failed on pod eng-g0-0 (gen 0): ")
    assert words in condition(failing).message
    labels = {"namespace": person.namespace, "name": "eng", "firebolt_io_instance": "inst"}
    assert operator.metrics.get_sample_value("firebolt_engine_drain_check_errors_total", labels)
    assert await person.children() == serving(1) | generation(0)
    scrape.set_default(Behaviour())
    await operator.next_pass()
    await operator.until_at_rest(1)


@pytest.mark.parametrize(
    "way_out",
    [pytest.param({"rollout": "recreate"}, id="recreate"), pytest.param({"drainCheckEnabled": False}, id="check-off")],
)
@pytest.mark.parametrize("is_inherited", [False, True], ids=["on-the-engine", "on-its-class"])
async def test_a_drain_that_never_ends_can_be_ended_by_a_person(
    operator: Operator, person: Person, scrape: ScrapeControl, way_out: Manifest, is_inherited: bool
) -> None:
    await person.make_class()
    await start_drain(operator, person, scrape, engineClassRef="big")
    scrape.set_default(Behaviour(mode=Mode.ERROR))
    await operator.next_pass()
    await operator.until_reason("DrainCheckFailing")
    if is_inherited:
        await person.edit_class(**way_out)
    else:
        await person.edit_engine(**way_out)
    await operator.until_at_rest(1)
    await person.until_children(serving(1))


async def test_an_edit_while_draining_waits_and_then_takes_a_generation(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await start_drain(operator, person, scrape)
    await person.edit_engine(replicas=2)
    run = await operator.next_pass()
    assert run.outcome is not None
    assert run.outcome.reason == "generation 0 still runs queries"
    assert await person.children() == serving(1) | generation(0)
    scrape.set_default(Behaviour())
    await operator.next_pass()
    done = await operator.until_at_rest(2)
    assert done.status.replicas == 2
    await person.until_children(serving(2))


async def test_an_instance_that_breaks_does_not_stop_a_rollout_under_way(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await start_drain(operator, person, scrape)
    await person.tell_instance({"metadataEndpoint": ""})
    await operator.sees(lambda: not any(each.status.metadata_endpoint for each in operator.caches.instances.values()))
    await operator.next_pass()
    draining = await operator.until_phase("draining")
    assert reason(draining, "InstanceReady") == "InstanceReady"  # as it was: the rollout does not need it
    scrape.set_default(Behaviour())
    await operator.next_pass()
    await operator.until_phase("stable")
    await operator.until_reason("InstanceNotReady")
    await person.until_children(serving(1))


async def test_terminating_pods_still_finish_their_queries(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await start_drain(operator, person, scrape)
    await person.annotate_pod("eng-g0-0", delete_after="1h")
    await person.delete(PODS, "eng-g0-0")
    await operator.sees(lambda: operator.pod("eng-g0-0").is_deleting)
    await operator.next_pass()
    assert (await operator.until_phase("draining")).status.draining_generation == 0
    scrape.set_default(Behaviour())
    await operator.next_pass()
    await operator.until_at_rest(1)
    await person.annotate_pod("eng-g0-0", delete_after="0s")
    await person.until_children(serving(1))


async def test_a_pod_whose_engine_crashed_holds_up_no_drain(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await person.make_instance()
    await person.make_engine(replicas=2)
    await operator.until_at_rest(0)
    await person.annotate_pod("eng-g0-0", fault="CrashLoopBackOff", last_termination="OOMKilled")
    await operator.until_reason("PodsNotReady")
    scrape.set(person.namespace, "eng-g0-0", Behaviour(mode=Mode.REFUSE))
    scrape.set(person.namespace, "eng-g0-1", BUSY)
    await person.edit_engine(template=NEW_LABEL)
    draining = await operator.until_phase("draining")
    await operator.next_pass()
    assert reason(draining) == "Rolling"  # the other one is asked, and busy
    scrape.set(person.namespace, "eng-g0-1", Behaviour())
    await operator.next_pass()
    await operator.until_at_rest(1)
    await person.until_children(serving(1))


async def test_a_delete_that_is_refused_ends_the_rollout_late_and_nothing_else(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await start_drain(operator, person, scrape)
    async with refused(person, STATEFULSETS, "DELETE"):
        scrape.set_default(Behaviour())
        await operator.next_pass()
        stuck = await operator.until_reason("EnsureFailed")
        assert "not now" in condition(stuck).message
        assert (stuck.status.phase, stuck.status.active_generation, stuck.status.replicas) == ("cleaning", 1, 1)
        assert await person.selected_generation() == "1"
    await operator.until_at_rest(1)
    await person.until_children(serving(1))


async def test_a_pod_with_copied_labels_holds_up_no_drain(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await start_drain(operator, person, scrape)
    labels = {"firebolt.io/engine": "eng", "firebolt.io/generation": "0"}
    spec = {"containers": [{"name": "c", "image": "i"}]}
    await person.client.create(person.manifest(PODS, "stranger", labels=labels, spec=spec))
    await person.until(PODS, "stranger", lambda pod: pod is not None and pod["status"].get("podIP"))
    scrape.set(person.namespace, "eng-g0-0", Behaviour())
    await operator.next_pass()
    await operator.until_at_rest(1)
    await person.until_children(serving(1))
    assert await person.find(PODS, "stranger")


async def test_a_drain_timeout_ends_a_busy_drain_with_a_warning(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await start_drain(operator, person, scrape, drainTimeout="10m")
    run = await operator.next_pass()
    assert look_again(run) == 5 * SECOND
    operator.clock.skip(timedelta(minutes=10))
    await operator.next_pass()
    await operator.until_at_rest(1)
    await person.until_children(serving(1))
    text = await person.describe()
    assert "DrainTimeout" in text
    assert "drainTimeout 0:10:00 ended the wait for generation 0" in text
    assert "it still ran queries, or could not be asked, when it was last looked at" in text


async def test_a_drain_timeout_is_inherited_from_the_class(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await person.make_class(drainTimeout="10m", drainCheckInterval="9s")
    await start_drain(operator, person, scrape, engineClassRef="big")
    assert look_again(await operator.next_pass()) == 9 * SECOND
    operator.clock.skip(timedelta(minutes=10))
    await operator.next_pass()
    await operator.until_at_rest(1)


@pytest.mark.parametrize(
    ("interval", "expected"),
    [pytest.param("0s", 5 * SECOND, id="zero"), pytest.param("-3s", 5 * SECOND, id="below-zero")],
)
async def test_an_interval_that_is_not_positive_means_the_default(
    operator: Operator, person: Person, scrape: ScrapeControl, interval: str, expected: timedelta
) -> None:
    await start_drain(operator, person, scrape, drainCheckInterval=interval)
    assert look_again(await operator.next_pass()) == expected


class TestSettling:
    """Resolvers may still answer with the old addresses for a while after the switch."""

    async def test_an_idle_generation_stays_for_the_whole_settle_and_people_are_told_until_when(
        self, start_operator: StartOperator, person: Person, scrape: ScrapeControl
    ) -> None:
        async with start_operator("--drain-settle=35s") as operator:
            await start_drain(operator, person, scrape)
            scrape.set_default(Behaviour())
            draining = await operator.until_phase("draining")
            switched_at = draining.status.switched_at
            assert switched_at is not None
            until = f"old generation stays until {format_time(switched_at + 35 * SECOND)}"
            assert condition(draining).message == f"Engine is in draining phase; {until}"
            operator.clock.skip(switched_at + 33 * SECOND - operator.clock.now())
            await operator.settled()
            operator.requests.seen.clear()
            run = await operator.next_pass()
            assert run.outcome is not None
            assert run.outcome.reason == until
            assert operator.requests.seen == {}  # neither pods nor the API server are asked meanwhile
            assert await person.children() == serving(1) | generation(0)
            operator.clock.skip(3 * SECOND)
            await operator.next_pass()
            await operator.until_at_rest(1)
            await person.until_children(serving(1))

    async def test_the_old_generation_never_goes_early(
        self, start_operator: StartOperator, person: Person, scrape: ScrapeControl
    ) -> None:
        del scrape
        async with start_operator("--drain-settle=2s") as operator:
            await person.make_instance()
            await person.make_engine()
            await operator.until_at_rest(0)
            times = dict[str, float]()

            def note_times(_old: object, _new: object) -> None:
                service = operator.caches.services.get((person.namespace, "eng-service"))
                if "switched" not in times and service and service.spec["selector"]["firebolt.io/generation"] == "1":
                    # Late in a second: what the status keeps of the instant must not shorten the wait.
                    operator.clock.skip(timedelta(microseconds=700_000 - operator.clock.now().microsecond))
                    times["switched"] = operator.clock.monotonic()
                old = operator.caches.statefulsets.get((person.namespace, "eng-g0"))
                if old is None or old.metadata.is_deleting:
                    times.setdefault("deleted", operator.clock.monotonic())

            operator.caches.services.subscribe(note_times)
            operator.caches.statefulsets.subscribe(note_times)
            await person.edit_engine(template=NEW_LABEL)
            await operator.until_phase("draining")
            while "deleted" not in times:
                await operator.next_pass()
                await asyncio.sleep(0.02)
            assert times["deleted"] - times["switched"] >= 2

    async def test_a_restart_in_the_middle_neither_shortens_nor_repeats_the_wait(
        self, start_operator: StartOperator, person: Person, scrape: ScrapeControl
    ) -> None:
        async with start_operator("--drain-settle=1h") as operator:
            await start_drain(operator, person, scrape)
            scrape.set_default(Behaviour())
            before = await operator.until_phase("draining")
        switched_at = before.status.switched_at
        assert switched_at is not None
        async with start_operator("--drain-settle=1h") as operator:
            run = await operator.next_pass()
            again = await operator.until_phase("draining")
            assert again.status.switched_at == switched_at
            assert run.outcome is not None
            assert run.outcome.reason == f"old generation stays until {format_time(switched_at + timedelta(hours=1))}"
            operator.clock.skip(switched_at + timedelta(minutes=59) - operator.clock.now())
            await operator.next_pass()
            assert await person.children() == serving(1) | generation(0)
            operator.clock.skip(timedelta(minutes=1, seconds=1))
            await operator.next_pass()
            await operator.until_at_rest(1)

    async def test_an_engine_that_is_parked_settles_for_three_seconds_at_most(
        self, start_operator: StartOperator, person: Person, scrape: ScrapeControl
    ) -> None:
        del scrape
        async with start_operator("--drain-settle=1h") as operator:
            await person.make_instance()
            await person.make_engine()
            await operator.until_at_rest(0)
            await person.edit_engine(replicas=0)
            draining = await operator.until_phase("draining")
            assert draining.status.switched_at is not None
            assert condition(draining).message.endswith(format_time(draining.status.switched_at + 3 * SECOND))
            await operator.until_at_rest(1)
            assert operator.clock.now() - draining.status.switched_at >= 3 * SECOND

    async def test_an_engine_that_wakes_up_has_nothing_to_settle(
        self, start_operator: StartOperator, person: Person, scrape: ScrapeControl
    ) -> None:
        del scrape
        async with start_operator("--drain-settle=1h") as operator:
            await person.make_instance()
            await person.make_engine(replicas=0)
            await operator.until_at_rest(0)
            await person.edit_engine(replicas=1)
            await operator.until_at_rest(1)

    async def test_the_timeout_bounds_the_settle_too(
        self, start_operator: StartOperator, person: Person, scrape: ScrapeControl
    ) -> None:
        async with start_operator("--drain-settle=1h") as operator:
            await start_drain(operator, person, scrape, drainTimeout="2s")
            await operator.until_at_rest(1)
            await person.until_children(serving(1))
            # Nobody was asked, so nobody says that queries ran.
            assert scrape.requests() == {}
            notes = [event["note"] for event in await person.events("DrainTimeout")]
            assert [note.partition(": ")[2] for note in notes] == [
                "nobody asked whether it runs queries, because the time of --drain-settle had not passed yet"
            ]

    @pytest.mark.parametrize("switched_at", [None, "2999-01-01T00:00:00Z"], ids=["missing", "in-the-future"])
    async def test_an_instant_that_cannot_be_is_replaced_by_now(
        self, start_operator: StartOperator, person: Person, scrape: ScrapeControl, switched_at: str | None
    ) -> None:
        async with start_operator("--drain-settle=1h") as operator:
            await start_drain(operator, person, scrape)
            scrape.set_default(Behaviour())
        await person.patch(FIREBOLT_ENGINES, "eng", {"status": {"switchedAt": switched_at}}, subresource="status")
        async with start_operator("--drain-settle=1h") as operator:
            began_at = operator.clock.now()
            await operator.next_pass()
            draining = await operator.until_phase("draining")
            assert draining.status.switched_at is not None
            assert abs(draining.status.switched_at - began_at) < 30 * SECOND
            assert await person.find(STATEFULSETS, "eng-g0")
