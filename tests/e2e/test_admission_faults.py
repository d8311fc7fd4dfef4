"""What can people not write while the operator is away, what goes on without it, and is anything stuck afterwards?"""

import asyncio
import time
from datetime import timedelta

import pytest

from firebolt_local.testing.installer import Installer
from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED
from firebolt_operator.api.resources import FIREBOLT_ENGINES, PODS, STATEFULSETS
from firebolt_operator.errors import UnansweredError
from firebolt_operator.kube.client import KubeClient
from tests.e2e.console_page import Page
from tests.e2e.crash_points import CRASH_POINTS, Rollout
from tests.e2e.environment import Environment
from tests.e2e.knocking import NOBODY_ANSWERS, Knocking, an_engine, knocking, write_problem
from tests.e2e.operator_pod import leading_operator, operator_away, until_one_operator
from tests.e2e.scenario import NEXT_IMAGE, Scenario
from tests.e2e.webhook_objects import delete_secret, installed_configurations, left_of

ABSENCE_SECONDS = 120.0
ASKED_AFTER_SECONDS = 50.0  # a query is held for two minutes: this one until the operator has come back
LONGEST_GAP_SECONDS = 60.0  # a limit for a busy machine; what it was is printed
BAD = {"spec": {"hostname": "mine"}}
REFUSAL = "spec.template.spec.hostname: Forbidden"
NO_SUCH_IMAGE = "image.tag=nowhere"


async def test_given_the_operators_pod_deleted_then_writes_are_taken_again_soon(
    scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    operator = await leading_operator(scenario.environment, scenario.client)
    async with knocking(scenario.environment) as door:
        await door.until(is_let_in=True)
        await operator.delete()
        assert (await leading_operator(scenario.environment, scenario.client)).name != operator.name
        await door.until(is_let_in=True)
    with capsys.disabled():
        print(f"\none replica, its pod deleted: {door}", end="")
    _assert_explained(door)
    assert door.longest_gap < LONGEST_GAP_SECONDS


async def test_given_two_replicas_when_a_pod_is_deleted_or_the_deployment_restarted_then_no_write_is_refused(
    scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    installer = Installer.for_cluster(scenario.environment.cluster)
    await asyncio.to_thread(installer.install, "replicaCount=2")
    try:
        async with knocking(scenario.environment) as door:
            await door.until(is_let_in=True)
            operator = await leading_operator(scenario.environment, scenario.client)
            await operator.delete()
            assert (await leading_operator(scenario.environment, scenario.client)).name != operator.name
            await asyncio.to_thread(installer.restart)
    finally:
        await asyncio.to_thread(installer.install)
    with capsys.disabled():
        print(f"\ntwo replicas, one deleted, then both replaced: {door}", end="")
    assert door.problems == []


async def test_given_no_operator_for_two_minutes_then_a_rollout_and_a_wake_go_on_as_far_as_they_can(
    scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    auto_stop = {"enabled": True, "idleTimeout": "1h", "activeReplicas": 1}
    await until_one_operator(scenario.client)
    await scenario.make_resting_engine("unled")
    await scenario.make_resting_engine("asleep", replicas=0, autoStop=auto_stop)
    await scenario.make_resting_engine("leaving", replicas=0)
    rollout = Rollout(scenario.informer, "unled")
    async with scenario.load("unled"), asyncio.TaskGroup() as group:
        edited = await scenario.edit("unled", template=NEXT_IMAGE)
        await scenario.until(lambda: CRASH_POINTS["the-statefulset-is-there"](rollout), "the rollout to begin")
        async with operator_away(scenario.environment, scenario.client):
            since = time.monotonic()
            await scenario.until(lambda: rollout.ready_pods(1) == 2, "pods that need no operator to become ready")
            with pytest.raises(UnansweredError, match=NOBODY_ANSWERS):
                await scenario.edit("unled", replicas=1)
            await scenario.delete(scenario.ref(FIREBOLT_ENGINES, "leaving"))
            await asyncio.sleep(ASKED_AFTER_SECONDS - (time.monotonic() - since))
            query = group.create_task(scenario.ask("asleep", within=timedelta(minutes=5)), name="waking query")
            await scenario.until(lambda: _is_stamped(scenario, "asleep"), "the wake annotation")
            await asyncio.sleep(ABSENCE_SECONDS - (time.monotonic() - since))
            assert rollout.selects(0), "nobody but the operator moves traffic"
        await scenario.at_rest("unled", 2, since=edited)
        await scenario.until(lambda: len(scenario.informer.all_of(STATEFULSETS, "unled")) == 1, "one generation")
        await scenario.until(lambda: scenario.informer.engine("leaving") is None, "the deleted engine to be gone")
        await scenario.at_rest("asleep", 1)
    assert query.result().problem == ""
    with capsys.disabled():
        print(f"\nthe query that woke an engine had its answer after {query.result().seconds:.0f} s", end="")
    assert scenario.informer.all_of(PODS, "unled", 0) == []
    assert (await scenario.edit("unled", replicas=1)) == edited + 1


@pytest.mark.parametrize(
    ("life", "runs_out"),
    [pytest.param("60s", "tls.crt", id="certificate"), pytest.param("15s", "ca.crt", id="authority")],
)
async def test_given_a_certificate_that_runs_out_while_the_operator_is_away_then_it_comes_back_with_another(
    environment: Environment, client: KubeClient, capsys: pytest.CaptureFixture[str], life: str, runs_out: str
) -> None:
    installer = Installer.for_cluster(environment.cluster)
    await asyncio.to_thread(installer.install, f"additionalArgs={{--webhook-cert-life={life}}}")
    try:
        await leading_operator(environment, client)  # the one before would make another that lasts for months
        delete_secret(environment)
        async with knocking(environment) as door:
            async with asyncio.timeout(60):
                while left_of(environment, runs_out) > timedelta(minutes=5):  # noqa: ASYNC110 - polls
                    await asyncio.sleep(0.2)
            async with operator_away(environment, client):
                await asyncio.sleep(left_of(environment, runs_out).total_seconds() + 1)
                came_back_at = time.monotonic()
            await door.until(is_let_in=True)
            back_after = time.monotonic() - came_back_at
    finally:
        await asyncio.to_thread(installer.install)
        delete_secret(environment)
    with capsys.disabled():
        print(f"\nlife {life}: writes taken {back_after:.1f} s after the operator was let back", end="")
    assert REFUSAL in write_problem(environment, an_engine("judged", template=BAD))


async def test_given_configurations_before_pods_when_these_come_then_writes_are_taken(
    environment: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    installer = Installer.for_cluster(environment.cluster)
    await asyncio.to_thread(installer.uninstall)
    delete_secret(environment)
    try:
        assert installed_configurations(environment) == []
        assert write_problem(environment, an_engine("unjudged", template=BAD)) == ""
        await asyncio.to_thread(installer.begin_install, NO_SUCH_IMAGE)
        async with knocking(environment) as door:
            await door.until(is_let_in=False)
            began_at = time.monotonic()
            await asyncio.to_thread(installer.begin_install)
            await door.until(is_let_in=True)
            healed_after = time.monotonic() - began_at
        assert REFUSAL in write_problem(environment, an_engine("judged", template=BAD))
    finally:
        await asyncio.to_thread(installer.install)
    with capsys.disabled():
        print(f"\nwrites taken {healed_after:.1f} s after pods were asked for: {door}", end="")
    _assert_explained(door)


def _is_stamped(scenario: Scenario, engine: str) -> bool:
    found = scenario.informer.get(FIREBOLT_ENGINES, engine)
    return found is not None and ANNOTATION_WAKE_REQUESTED in found["metadata"].get("annotations", {})


def _assert_explained(door: Knocking) -> None:
    """Whatever people may see has its row in the page."""
    rows = Page.read("admission.md").first_cells()
    assert [each for each in set(door.problems) if not any(row in each for row in rows)] == []
