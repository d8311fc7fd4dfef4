"""Does a real Prometheus hear of real faults? Of those that need no real pods; tests/e2e has the others."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.scrape import Behaviour, Mode, ScrapeControl
from firebolt_operator.api.resources import PODS, ROLE_BINDINGS
from firebolt_operator.refs import Manifest, Ref
from tests.api.monitoring.watched import Manner, Watched, watched
from tests.support.crds import install_crds
from tests.support.hasty_rules import write_hasty_rules

pytestmark = pytest.mark.slow

FAULT = "sim.firebolt.io/fault"


@pytest.fixture
async def place(
    control_plane: ControlPlane,
    scrape: ScrapeControl,  # noqa: ARG001 - for its effect
    namespace: str,
    tmp_path: Path,
) -> AsyncGenerator[Watched]:
    """Certificates of a day, holds of three seconds, and room for two."""
    install_crds(control_plane.kubeconfig)
    manner = Manner(flags=("--webhook-cert-life=24h",), hold_timeout=3.0, hold_cap=2, rules=write_hasty_rules(tmp_path))
    async with watched(control_plane, namespace, tmp_path, manner) as running:
        yield running


async def patch_pod(place: Watched, name: str, value: str | None) -> None:
    change: Manifest = {"metadata": {"annotations": {FAULT: value}}}
    await place.gateway.client.merge_patch(Ref(PODS, place.operator.namespace, name), change)


async def test_alerts_fire_on_faults_and_are_silent_when_these_are_over(place: Watched, scrape: ScrapeControl) -> None:
    await place.make_engines()
    await place.until_firing("FireboltCertificateExpires")
    await a_node_crashes(place)
    await pods_do_not_answer(place, scrape)
    await queries_wait_in_vain(place)
    await the_gateway_loses_its_rights(place)


async def a_node_crashes(place: Watched) -> None:
    alerts = ("FireboltEngineNodesMissing", "FireboltEngineNotReady")
    await place.until_silent(*alerts)
    await patch_pod(place, "eng-g0-1", "CrashLoopBackOff")
    await place.until_firing(*alerts)
    await patch_pod(place, "eng-g0-1", None)
    await place.until_silent(*alerts)


async def pods_do_not_answer(place: Watched, scrape: ScrapeControl) -> None:
    alerts = ("FireboltEngineDrainCheckFailing", "FireboltEngineDrainStuck")
    scrape.set_default(Behaviour(mode=Mode.ERROR))
    edit: Manifest = {"spec": {"drainCheckInterval": "1s", "template": {"metadata": {"labels": {"edited": "yes"}}}}}
    await asyncio.to_thread(place.operator.patch, "FireboltEngine", "eng", edit)
    await place.until_firing(*alerts)
    scrape.reset()
    await place.until_phase("eng", "stable")
    await place.until_silent(*alerts)


async def queries_wait_in_vain(place: Watched) -> None:
    """The engine is woken, and Envoy never learns where it is."""
    async with asyncio.TaskGroup() as group:
        held = [group.create_task(place.agent.hold("parked")) for _ in range(3)]
    assert sorted(task.result().decision for task in held) == ["shed", "shed", "timeout"]
    await place.until_firing("FireboltWakeTimeouts", "FireboltWakeShed")


async def the_gateway_loses_its_rights(place: Watched) -> None:
    account = "agent-gateway"
    await place.gateway.delete(Ref(ROLE_BINDINGS, place.operator.namespace, account))
    await asyncio.to_thread(place.operator.patch, "FireboltEngine", "parked", {"spec": {"replicas": 0}})
    await place.until_phase("parked", "stopped")
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(_ask_for_ever(place), name="queries")
        await place.until_firing("FireboltWakeRefused")
        asking.cancel()


async def _ask_for_ever(place: Watched) -> None:
    while True:
        await place.agent.hold("parked")
        await asyncio.sleep(0.2)
