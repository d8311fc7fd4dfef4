"""What keeps an engine from being rendered, and how is it told? Instance, class, template, bounds."""

from datetime import timedelta
from typing import Any

import pytest

from firebolt_local.cluster.scrape import Behaviour, ScrapeControl
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_INSTANCES, PODS, STATEFULSETS
from firebolt_operator.kube.ports import WatchEvent
from firebolt_operator.refs import Manifest
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import SERVING, Person, serving
from tests.api.engine.running import Operator, condition, look_again, message, reason

GATE_WAIT = timedelta(seconds=10)
AUTH = {"enabled": True, "local": {"admin": {"password": {"name": "admin", "key": "password"}}}}


async def blocked(operator: Operator, wanted: str) -> str:
    """The message beside that reason, once a pass has found nothing else to do about it."""
    engine = await operator.until_reason(wanted)
    await operator.settled()
    operator.requests.seen.clear()
    run = await operator.next_pass()
    assert (run.error, look_again(run)) == ("", GATE_WAIT)
    assert operator.requests.seen == {}
    assert condition(engine).status == "False"
    assert condition(engine).observed_generation == engine.metadata.generation
    return condition(engine).message


class TestInstance:
    @pytest.mark.parametrize(
        ("status", "problem"),
        [
            pytest.param({}, "is still provisioning", id="no-phase"),
            pytest.param({**SERVING, "phase": "Provisioning"}, "is still provisioning", id="provisioning"),
            pytest.param({"phase": "Ready"}, "has no metadata endpoint yet", id="no-metadata-endpoint"),
            pytest.param({"phase": "Degraded"}, "has no metadata endpoint yet", id="degraded-without-metadata"),
        ],
    )
    async def test_an_engine_waits_for_its_instance_and_goes_on_by_itself(
        self, operator: Operator, person: Person, status: Manifest, problem: str
    ) -> None:
        await person.make_instance(status)
        await person.make_engine()
        wanted = f'FireboltInstance "inst" {problem}'
        # The engine may come by before the instance does, and say so for a moment.
        engine = await operator.until(lambda engine: message(engine, "InstanceReady") == wanted)
        assert await blocked(operator, "InstanceNotReady") == "Referenced FireboltInstance is not ready"
        why = condition(engine, "InstanceReady")
        assert (why.status, why.reason) == ("False", "InstanceNotReady")
        assert await person.children() == set()
        await person.tell_instance(SERVING)
        ready = condition(await operator.until_at_rest(0), "InstanceReady")
        assert (ready.status, ready.reason, ready.message) == (
            "True",
            "InstanceReady",
            "Referenced FireboltInstance is ready",
        )

    async def test_an_engine_may_come_before_its_instance(self, operator: Operator, person: Person) -> None:
        await person.make_engine()
        await blocked(operator, "InstanceNotReady")
        engine = await operator.until_phase("creating")
        text = f'FireboltInstance "inst" not found in namespace {person.namespace}'
        assert condition(engine, "InstanceReady").message == text
        await person.make_instance()
        await operator.until_at_rest(0)

    async def test_a_degraded_instance_with_metadata_is_good_enough(self, operator: Operator, person: Person) -> None:
        await person.make_instance({**SERVING, "phase": "Degraded"})
        await person.make_engine()
        await operator.until_at_rest(0)

    async def test_authentication_that_is_not_ready_fails_closed(self, operator: Operator, person: Person) -> None:
        await person.make_instance(auth=AUTH)
        await person.make_engine()
        wanted = "has auth enabled but it is not ready yet"
        await operator.until(lambda engine: message(engine, "InstanceReady").endswith(wanted))
        await blocked(operator, "InstanceNotReady")
        assert await person.children() == set()

    @pytest.mark.parametrize("replicas", [1, 0], ids=["stable", "stopped"])
    async def test_a_running_engine_says_that_its_instance_broke_and_keeps_its_pods(
        self, operator: Operator, person: Person, replicas: int
    ) -> None:
        await person.make_instance()
        await person.make_engine(replicas=replicas)
        before = await operator.until_at_rest(0)
        await person.tell_instance({"metadataEndpoint": ""})
        await blocked(operator, "InstanceNotReady")
        broken = await operator.until_reason("InstanceNotReady")
        counts = (broken.status.phase, broken.status.replicas, broken.status.ready_replicas)
        assert counts == (before.status.phase, replicas, replicas)
        assert await person.children() == serving(0)
        await person.tell_instance(SERVING)
        await operator.stays_at_rest(0)

    async def test_pods_are_counted_whatever_the_instance_does(self, operator: Operator, person: Person) -> None:
        await person.make_instance()
        await person.make_engine(replicas=2)
        await operator.until_at_rest(0)
        await person.tell_instance({"metadataEndpoint": ""})
        await operator.until_reason("InstanceNotReady")
        await person.annotate_pod("eng-g0-0", fault="CrashLoopBackOff")
        engine = await operator.until(lambda engine: engine.status.ready_replicas == 1)
        assert (engine.status.replicas, reason(engine)) == (2, "InstanceNotReady")

    async def test_an_edit_waits_while_the_instance_is_gone(self, operator: Operator, person: Person) -> None:
        await person.make_instance()
        await person.make_engine()
        await operator.until_at_rest(0)
        await person.delete(FIREBOLT_INSTANCES, "inst")
        await operator.until_reason("InstanceNotReady")
        await person.edit_engine(replicas=2)
        await operator.until(lambda engine: engine.spec is not None and engine.spec.replicas == 2)
        await operator.next_pass()
        assert await person.children() == serving(0)
        await person.make_instance()
        assert (await operator.until_at_rest(1)).status.replicas == 2


class TestClass:
    async def test_a_missing_class_is_told_with_an_event_and_looked_for_with_backoff(
        self, operator: Operator, person: Person
    ) -> None:
        await person.make_instance()
        await person.make_engine(engineClassRef="nowhere")
        text = (
            'FireboltEngineClass referenced by spec.engineClassRef not found: spec.engineClassRef "nowhere":'
            f" FireboltEngineClass {person.namespace}/nowhere not found, ClusterFireboltEngineClass nowhere not found"
        )
        await operator.sees(lambda: any(run.error == text for run in operator.engines.ended("eng")))
        assert look_again(operator.engines.ended("eng")[-1]) == "backoff"
        # The engine may come by before the instance does, and say so for a moment.
        engine = await operator.until_reason("InstanceReady", "InstanceReady")
        assert (condition(engine, "Stalled").reason, condition(engine, "Stalled").message) == (
            "EngineClassMissing",
            text,
        )
        assert (reason(engine), reason(engine, "Reconciling")) == ("Rolling", "")
        assert condition(engine).message == "Engine is in creating phase"
        assert engine.status.observed_generation == engine.metadata.generation
        await operator.next_pass()
        assert [event["note"] for event in await person.events("EngineClassMissing")] == [text]
        assert await person.children() == set()
        await person.make_class("nowhere")
        assert reason(await operator.until_at_rest(0), "Stalled") == ""

    async def test_an_engine_that_loses_its_class_serves_on_and_says_both(
        self, operator: Operator, person: Person
    ) -> None:
        await person.make_instance()
        await person.make_engine()
        await operator.until_at_rest(0)
        await person.edit_engine(engineClassRef="nowhere", drainTimeout="soon")
        engine = await operator.until_reason("EngineClassMissing", "Stalled")
        assert (reason(engine), condition(engine).status, engine.status.phase) == ("EngineReady", "True", "stable")
        assert "spec.drainTimeout" in message(engine, "Stalled")
        await operator.settled()
        operator.requests.seen.clear()
        assert look_again(await operator.next_pass()) == "backoff"
        assert {request for request in operator.requests.seen if not request.startswith("GET")} == set()
        edited = await person.edit_engine(engineClassRef=None, drainTimeout=None)
        assert reason(await operator.until_done(edited), "Stalled") == ""

    async def test_a_class_that_is_still_on_its_way_to_the_operator_is_not_missed(
        self, operator: Operator, person: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await person.make_instance()

        def hears_nothing(_part: str, _event: WatchEvent) -> None: ...

        monkeypatch.setattr(operator.caches.engine_classes, "watched", hears_nothing)
        await person.make_class(template={"metadata": {"labels": {"size": "big"}}})
        await person.make_engine(engineClassRef="big")
        await operator.until_at_rest(0)
        assert [run.error for run in operator.engines.passes if run.error] == []
        assert (await person.read(PODS, "eng-g0-0"))["metadata"]["labels"]["size"] == "big"
        await operator.stays_at_rest(0)

    async def test_a_class_outside_the_watch_selector_does_not_exist(
        self, start_operator: StartOperator, person: Person
    ) -> None:
        await person.make_instance()
        await person.make_class()
        async with start_operator("--watch-label-selector=watched=yes") as operator:
            await person.make_engine(labels={"watched": "yes"}, engineClassRef="big")
            await operator.sees(lambda: any("not found" in run.error for run in operator.engines.ended("eng")))
            await person.patch(FIREBOLT_ENGINE_CLASSES, "big", {"metadata": {"labels": {"watched": "yes"}}})
            await operator.until_reason("InstanceNotReady")  # the instance is not watched either
            await person.patch(FIREBOLT_INSTANCES, "inst", {"metadata": {"labels": {"watched": "yes"}}})
            await operator.until_at_rest(0)

    async def test_a_class_with_owned_fields_blocks_until_it_is_mended(
        self, operator: Operator, person: Person
    ) -> None:
        await person.make_instance()
        await person.make_class(template={"spec": {"hostname": "x"}})
        await person.make_engine(engineClassRef="big")
        message = await blocked(operator, "FireboltEngineClassUnready")
        assert message == (
            "FireboltEngineClass referenced by spec.engineClassRef is not Ready:"
            f' "big" in namespace "{person.namespace}": '
            "spec.template.spec.hostname: Forbidden: hostname is owned by the operator"
        )
        assert await person.children() == set()
        await person.edit_class(template={"spec": {"hostname": None}})
        await operator.until_at_rest(0)

    async def test_a_class_that_nobody_has_judged_yet_is_judged_by_its_engines(
        self, operator: Operator, person: Person
    ) -> None:
        await person.make_instance()
        await person.make_class("good")
        await operator.until_class("good", lambda found: found.status.conditions != [])
        operator.classes.controller.close()
        await person.make_class("bad", template={"spec": {"hostname": "x"}})
        await person.make_engine("first", engineClassRef="bad")
        await person.make_engine("second", engineClassRef="good")
        await operator.until_reason("FireboltEngineClassUnready", name="first")
        await operator.until_at_rest(0, "second")
        assert await person.children("first") == set()
        await person.edit_class("good", template={"spec": {"hostname": "x"}})
        unready = await operator.until_reason("FireboltEngineClassUnready", name="second")
        assert unready.status.current_generation == 0
        await person.edit_class("good", template={"spec": None})
        await operator.stays_at_rest(0, "second")

    async def test_engines_of_a_class_that_waits_for_its_deletion_go_on(
        self, operator: Operator, person: Person
    ) -> None:
        await person.make_instance()
        await person.make_class()
        await person.make_engine(engineClassRef="big")
        await operator.until_at_rest(0)
        await person.delete(FIREBOLT_ENGINE_CLASSES, "big")
        await operator.until_class("big", lambda found: condition(found).reason == "DeletionBlocked")
        await person.edit_engine(replicas=2)
        await operator.until_at_rest(1)
        await person.edit_engine(engineClassRef=None)
        await operator.until_at_rest(2)
        await person.until_gone(FIREBOLT_ENGINE_CLASSES, "big")


class TestTemplate:
    @pytest.mark.parametrize(
        ("template", "text"),
        [
            pytest.param(
                {"spec": {"hostname": "x"}},
                "spec.template.spec.hostname: Forbidden: hostname is owned by the operator",
                id="owned-field",
            ),
            pytest.param(
                {
                    "metadata": {"labels": {"firebolt.io/engine": "x"}},
                    "spec": {"containers": [{"name": "engine", "env": [{"name": "POD_INDEX", "value": "7"}]}]},
                },
                "[spec.template.metadata.labels[firebolt.io/engine]: Forbidden: keys with the"
                ' "firebolt.io/" prefix are reserved for the operator,'
                " spec.template.spec.containers[0].env[0].name: Forbidden:"
                ' env key "POD_INDEX" is injected by the operator; pick a different name]',
                id="two-at-once",
            ),
        ],
    )
    async def test_owned_fields_are_rejected_in_a_running_engine_too(
        self, operator: Operator, person: Person, template: Manifest, text: str
    ) -> None:
        await person.make_instance()
        await person.make_engine()
        await operator.until_at_rest(0)
        await person.edit_engine(template=template)
        assert await blocked(operator, "TemplateRejected") == text
        engine = await operator.until_reason("TemplateRejected")
        assert (engine.status.phase, reason(engine, "InstanceReady")) == ("stable", "InstanceReady")
        assert await person.children() == serving(0)
        await person.edit_engine(template=None)
        await operator.until(lambda engine: engine.metadata.generation == 3)
        await operator.stays_at_rest(0)

    async def test_secrets_of_the_instance_are_out_of_reach_of_the_environment(
        self, operator: Operator, person: Person
    ) -> None:
        await person.make_instance()
        source = {"secretRef": {"name": "inst-metadata-postgres-creds"}}
        template = {"spec": {"containers": [{"name": "side", "image": "s:1", "envFrom": [source]}]}}
        await person.make_engine(template=template)
        message = await blocked(operator, "TemplateRejected")
        assert message == (
            'spec.template.spec.containers[0]: Forbidden: container "side" reads Secret "inst-metadata-postgres-creds"'
            " into its environment, which is for the engine operator only; use a Secret of your own"
        )

    async def test_volumes_that_reach_such_a_secret_are_dropped_with_a_warning(
        self, operator: Operator, person: Person
    ) -> None:
        await person.make_instance()
        volumes = [
            {"name": "stolen", "secret": {"secretName": "inst-metadata-postgres-creds"}},
            {"name": "neighbours", "secret": {"secretName": "other-metadata-postgres-creds"}},
            {"name": "disk", "persistentVolumeClaim": {"claimName": "data-other-metadata-pg-0"}},
            {"name": "own", "emptyDir": {}},
        ]
        await person.make_engine(template={"spec": {"volumes": volumes}})
        await operator.until_at_rest(0)
        statefulset = await person.read(STATEFULSETS, "eng-g0")
        names = {volume["name"] for volume in statefulset["spec"]["template"]["spec"]["volumes"]}
        assert names & {"stolen", "neighbours", "disk", "own"} == {"own"}
        await operator.stays_at_rest(0)
        description = await person.describe()
        assert description.count("SecretAliasVolumeDropped") == 1
        prefix = "template volumes reaching operator-managed Secrets were dropped from the rendered pod: "
        assert f"{prefix}[spec.template.spec.volumes[0]" in description

    async def test_a_mistake_that_is_made_again_is_told_again(self, operator: Operator, person: Person) -> None:
        await person.make_instance()
        stolen = {"name": "stolen", "secret": {"secretName": "inst-metadata-postgres-creds"}}
        await person.make_engine(replicas=0, template={"spec": {"volumes": [stolen]}})
        await operator.until_at_rest(0)
        for volumes in ([], [stolen]):
            edited = await person.edit_engine(template={"spec": {"volumes": volumes}})
            await operator.until_done(edited)
        assert len(await person.events("SecretAliasVolumeDropped")) == 2


class TestBounds:
    BOUNDS = ("--engine-max-cpu=4", "--engine-max-memory=8Gi")

    @staticmethod
    def _limits(**amounts: str) -> Manifest:
        return {"spec": {"containers": [{"name": "engine", "resources": {"limits": amounts}}]}}

    async def test_more_than_the_bound_is_refused_and_the_bound_itself_is_not(
        self, start_operator: StartOperator, person: Person
    ) -> None:
        async with start_operator(*self.BOUNDS) as operator:
            await person.make_instance()
            await person.make_engine(template=self._limits(cpu="5", memory="8Gi"))
            assert await blocked(operator, "ResourceBoundsExceeded") == (
                "spec.template.spec.containers[engine].resources.limits.cpu: Invalid value:"
                ' "5": exceeds operator-configured maximum 4'
            )
            assert await person.children() == set()
            await person.edit_engine(template=self._limits(cpu="4000m", memory="8192Mi"))
            await operator.until_at_rest(0)

    async def test_what_a_class_asks_for_names_the_class(self, start_operator: StartOperator, person: Person) -> None:
        async with start_operator(*self.BOUNDS) as operator:
            await person.make_instance()
            await person.make_class(template=self._limits(memory="9Gi"))
            await person.make_engine(engineClassRef="big")
            assert await blocked(operator, "ResourceBoundsExceeded") == (
                "spec.template.spec.containers[engine].resources.limits.memory: Invalid value:"
                ' "9Gi": exceeds operator-configured maximum 8Gi (inherited from FireboltEngineClass "big";'
                " set spec.template on this engine to override)"
            )
            await person.edit_engine(template=self._limits(memory="1Gi"))
            await operator.until_at_rest(0)


async def test_a_gate_that_closes_while_draining_freezes_the_drain(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await _edit_while_draining(operator, person, scrape, template={"spec": {"hostname": "x"}})
    frozen = await operator.until_phase("draining")
    assert frozen.status.draining_generation == 0
    assert await person.selected_generation() == "1"
    await person.edit_engine(template={"spec": {"hostname": None}})
    await operator.until_at_rest(1)


async def test_a_class_that_is_missing_holds_up_no_rollout_that_is_rendered_already(
    operator: Operator, person: Person, scrape: ScrapeControl
) -> None:
    await _edit_while_draining(operator, person, scrape, engineClassRef="nowhere")
    arrived = await operator.until_phase("stable")
    assert (arrived.status.active_generation, arrived.status.draining_generation) == (1, None)
    assert reason(await operator.until_reason("EngineClassMissing", "Stalled")) == "EngineReady"
    await person.edit_engine(engineClassRef=None)
    await operator.until(lambda engine: reason(engine, "Stalled") == "")


async def _edit_while_draining(operator: Operator, person: Person, scrape: ScrapeControl, **spec: Any) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    scrape.set_default(Behaviour(running=1))
    await person.edit_engine(template={"metadata": {"labels": {"edited": "yes"}}})
    await operator.until_phase("draining")
    edited = await person.edit_engine(**spec)
    await operator.until(lambda engine: engine.metadata.generation == edited["metadata"]["generation"])
    await operator.next_pass()
    scrape.set_default(Behaviour())
    await operator.next_pass()
