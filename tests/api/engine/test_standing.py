"""Is an engine on its way, stuck or done? Stalled, Reconciling and observedGeneration, as GitOps tools read them."""

from datetime import timedelta

import pytest

from firebolt_local.cluster.scrape import Behaviour, ScrapeControl
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.refs import Manifest
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person, generation, serving
from tests.api.engine.running import Operator, condition, look_again, message, reason

STUCK: Manifest = {"metadata": {"annotations": {"sim.firebolt.io/fault": "ImagePullBackOff"}}}
AUTO_STOP: Manifest = {"enabled": True, "activeReplicas": 1}


def label(value: str) -> Manifest:
    return {"metadata": {"labels": {"edited": value}}}


class Seen:
    """Every engine that the operator was told of, as it was then."""

    def __init__(self, operator: Operator) -> None:
        self.engines: list[FireboltEngine] = []
        operator.caches.engines.subscribe(self._saw)

    def _saw(self, _old: FireboltEngine | None, new: FireboltEngine | None) -> None:
        if new is not None and new.status.phase:
            self.engines.append(new)

    def of(self, kind: str) -> list[str]:
        return [reason(engine, kind) for engine in self.engines]


def is_current(engine: FireboltEngine) -> bool:
    """What a tool that knows kstatus takes for done."""
    on_its_way = find_condition(engine.status.conditions, "Reconciling") or find_condition(
        engine.status.conditions, "Stalled"
    )
    is_observed = engine.status.observed_generation == engine.metadata.generation
    return is_observed and condition(engine).is_true and on_its_way is None


async def test_an_engine_is_reconciling_from_its_first_status_until_it_has_arrived(
    operator: Operator, person: Person
) -> None:
    seen = Seen(operator)
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    assert "" not in seen.of("Reconciling")[:-1]
    assert seen.of("Reconciling")[-1] == ""
    assert set(seen.of("Stalled")) == {""}
    assert {engine.status.observed_generation for engine in seen.engines} == {1}
    await operator.stays_at_rest(0)


async def test_a_stopped_engine_has_arrived(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=0)
    engine = await operator.until_at_rest(0)
    assert [(each.type, each.reason) for each in engine.status.conditions] == [
        ("Ready", "Stopped"),
        ("InstanceReady", "InstanceReady"),
    ]


async def test_an_engine_whose_spec_moves_on_in_mid_rollout_is_not_done_until_that_is_rolled_too(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    scrape.set_default(Behaviour(running=1))
    await person.edit_engine(template=label("one"))
    await operator.until_phase("draining")
    edited = await person.edit_engine(template=label("two"))
    told = await operator.until(lambda engine: engine.status.observed_generation == edited["metadata"]["generation"])
    # Heard at once, though nothing comes of it before the drain is over.
    assert (told.status.phase, reason(told, "Reconciling")) == ("draining", "Rolling")
    seen = Seen(operator)
    scrape.set_default(Behaviour())
    await operator.until_at_rest(2)
    assert "stable" in {engine.status.phase for engine in seen.engines if engine.status.active_generation == 1}
    assert {engine.status.active_generation for engine in seen.engines if is_current(engine)} == {2}


async def test_a_generation_that_is_not_ready_in_time_is_stalled_and_goes_on(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.edit_engine(template=STUCK)
    await operator.until(lambda engine: "ImagePullBackOff" in message(engine))
    operator.clock.skip(timedelta(minutes=29))
    await operator.next_pass()
    assert reason(await operator.until_attempt(1), "Reconciling") == "Rolling"
    operator.clock.skip(timedelta(minutes=1))
    await operator.next_pass()
    engine = await operator.until_reason("ProgressDeadlineExceeded", "Stalled")
    assert (reason(engine), reason(engine, "Reconciling"), engine.status.phase) == ("Rolling", "", "creating")
    why = condition(engine, "Stalled").message
    assert why.startswith("generation 1 is not ready within progressDeadline 30m0s; generation 0 serves")
    await operator.next_pass()
    assert [event["note"] for event in await person.events("ProgressDeadlineExceeded")] == [why]
    assert await person.children() == serving(0) | generation(1)
    assert await person.selected_generation() == "0"
    await person.annotate_pod("eng-g1-0", fault=None)
    assert reason(await operator.until_at_rest(1), "Stalled") == ""


@pytest.mark.parametrize(
    ("of_class", "own", "is_stalled"),
    [
        pytest.param("1m", None, True, id="inherited"),
        pytest.param("1m", "0", False, id="none-at-all"),
        pytest.param("2h", "1m", True, id="the-engine's-own"),
    ],
)
async def test_the_deadline_comes_from_the_engine_or_its_class(
    operator: Operator, person: Person, of_class: str, own: str | None, is_stalled: bool
) -> None:
    await person.make_instance()
    await person.make_class(progressDeadline=of_class)
    fields: Manifest = {"progressDeadline": own} if own else {}
    await person.make_engine(engineClassRef="big", template=STUCK, **fields)
    await operator.until(lambda engine: "ImagePullBackOff" in message(engine))
    operator.clock.skip(timedelta(hours=1))
    await operator.next_pass()
    engine = await operator.until_phase("creating")
    assert reason(engine, "Stalled") == ("ProgressDeadlineExceeded" if is_stalled else "")


class TestMalformedDuration:
    @pytest.mark.parametrize("field", ["drainCheckInterval", "drainTimeout", "progressDeadline"])
    async def test_it_names_its_field_and_stops_nothing(self, operator: Operator, person: Person, field: str) -> None:
        await person.make_instance()
        bad: Manifest = {field: "soon"}
        await person.make_engine(**bad)
        engine = await operator.until_at_rest(0)
        assert (reason(engine, "Stalled"), condition(engine).is_true) == ("SpecInvalid", True)
        assert message(engine, "Stalled").startswith(f'spec.{field}: "soon" is not a duration; ')
        await operator.stays_at_rest(0)
        await person.edit_engine(template=label("rolled"))
        await operator.until_at_rest(1)
        undo: Manifest = {field: None}
        edited = await person.edit_engine(**undo)
        assert reason(await operator.until_done(edited), "Stalled") == ""

    async def test_in_a_class_it_is_told_by_the_class_and_by_those_who_inherit_it(
        self, operator: Operator, person: Person
    ) -> None:
        await person.make_instance()
        await person.make_class(drainTimeout="1 day")
        await person.make_engine("one", engineClassRef="big")
        await person.make_engine("two", engineClassRef="big", drainTimeout="1h")
        one = await operator.until_at_rest(0, "one")
        text = '"1 day" is not a duration; write it like 30s or 1h30m'
        origin = '(inherited from FireboltEngineClass "big"; mend it there, or set it on this engine)'
        assert message(one, "Stalled").startswith(f"spec.engineClassRef.drainTimeout: {text} {origin}")
        assert reason(await operator.until_at_rest(0, "two"), "Stalled") == ""
        found = await operator.until_class("big", lambda found: found.status.bound_engines == 2)
        assert (condition(found).is_true, condition(found, "Stalled").reason) == (True, "SpecInvalid")
        assert condition(found, "Stalled").message == f"spec.drainTimeout: {text}"
        await person.edit_class(drainTimeout="24h")
        await operator.until(lambda engine: not reason(engine, "Stalled"), "one")
        await operator.until_class("big", lambda found: find_condition(found.status.conditions, "Stalled") is None)

    @pytest.mark.parametrize("is_inherited", [False, True], ids=["own", "of-the-class"])
    async def test_a_parked_engine_wakes_all_the_same(
        self, operator: Operator, person: Person, is_inherited: bool
    ) -> None:
        await person.make_instance()
        policy = AUTO_STOP | {"idleTimeout": "30 minutes"}
        await person.make_class(autoStop=policy)
        own: Manifest = {} if is_inherited else {"autoStop": policy}
        await person.make_engine(replicas=0, engineClassRef="big", **own)
        parked = await operator.until_at_rest(0)
        assert (reason(parked, "Stalled"), parked.status.auto_stop_reason) == ("SpecInvalid", "Stopped")
        await person.ask_for_engine(operator.clock.now())
        woken = await operator.until_at_rest(1)
        assert (woken.status.phase, woken.status.replicas) == ("stable", 1)
        # Idle for longer than any timeout, and yet nobody knows how long is meant.
        operator.clock.skip(timedelta(days=1))
        await operator.next_pass()
        assert (await operator.until_at_rest(1)).status.phase == "stable"


async def test_a_wake_request_from_before_all_time_wakes_nobody_and_stops_nothing(
    operator: Operator, person: Person, caplog: pytest.LogCaptureFixture
) -> None:
    await person.make_instance()
    await person.make_engine(replicas=0, autoStop=AUTO_STOP)
    await operator.until_at_rest(0)
    stamp = {"metadata": {"annotations": {ANNOTATION_WAKE_REQUESTED: "0001-01-01T00:00:00+23:59"}}}
    await person.patch(FIREBOLT_ENGINES, "eng", stamp)
    await operator.until(lambda engine: ANNOTATION_WAKE_REQUESTED in engine.metadata.annotations)
    run = await operator.next_pass()
    assert (run.error, run.outcome and run.outcome.reason) == ("", "at rest")
    await person.edit_engine(template=label("rolled"))
    assert (await operator.until_at_rest(1)).status.phase == "stopped"
    # Said once, whatever else is done.
    ignored = [vars(each)["engine"] for each in caplog.records if each.msg == "wake request ignored"]
    assert ignored == ["eng"]


class TestTooManyNodes:
    LIMIT = "--engine-max-replicas=2"
    EXCEEDS = "exceeds operator-configured maximum 2"

    async def test_nothing_is_rendered_and_what_runs_goes_on(
        self, start_operator: StartOperator, person: Person
    ) -> None:
        async with start_operator(self.LIMIT) as operator:
            await person.make_instance()
            await person.make_engine(replicas=2)
            await operator.until_at_rest(0)
            await person.edit_engine(replicas=3, template=label("new"))
            engine = await operator.until_reason("SpecInvalid", "Stalled")
            assert message(engine, "Stalled").startswith(f"spec.replicas: Invalid value: 3: {self.EXCEEDS}; ")
            # It serves with fewer nodes than it was asked to have.
            assert (reason(engine), engine.status.ready_replicas) == ("PodsNotReady", 2)
            await operator.settled()
            operator.requests.seen.clear()
            assert look_again(await operator.next_pass()) == timedelta(seconds=10)
            assert operator.requests.seen == {}
            assert await person.children() == serving(0)
            await person.edit_engine(replicas=1)
            assert reason(await operator.until_at_rest(1), "Stalled") == ""

    async def test_an_engine_that_never_ran_is_not_begun(self, start_operator: StartOperator, person: Person) -> None:
        async with start_operator(self.LIMIT) as operator:
            await person.make_instance()
            await person.make_engine(replicas=1000)
            await operator.until_reason("SpecInvalid", "Stalled")
            await operator.settled()
            assert await person.children() == set()

    async def test_a_wake_brings_as_many_as_there_may_be(self, start_operator: StartOperator, person: Person) -> None:
        async with start_operator(self.LIMIT) as operator:
            await person.make_instance()
            await person.make_class(autoStop=AUTO_STOP | {"activeReplicas": 5})
            await person.make_engine(replicas=0, engineClassRef="big")
            told = message(await operator.until_at_rest(0), "Stalled")
            assert told.startswith(f"spec.engineClassRef.autoStop.activeReplicas: Invalid value: 5: {self.EXCEEDS}")
            await person.ask_for_engine(operator.clock.now())
            assert (await operator.until_at_rest(1)).status.replicas == 2
            found = await operator.until_class("big", lambda found: found.status.bound_engines == 1)
            assert condition(found, "Stalled").reason == "SpecInvalid"
