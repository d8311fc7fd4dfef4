"""Is anything lost, or left in anybody's way, when webhooks are turned on, off, or removed with the operator?"""

import asyncio
import base64
import time
from datetime import timedelta

import pytest

from firebolt_local.testing.installer import NAMESPACE, RELEASE, Installer
from firebolt_operator.admission import pki
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.clock import SystemClock
from tests.e2e.environment import Environment
from tests.e2e.knocking import an_engine, knocking, write_problem
from tests.e2e.scenario import NEXT_IMAGE, Scenario
from tests.e2e.webhook_objects import bundles, delete_secret, installed_configurations

OFF = "webhook.enabled=false"
ELSEWHERE = "from-elsewhere"
BAD = {"spec": {"hostname": "mine"}}
REFUSAL = "spec.template.spec.hostname: Forbidden"
LONGEST_GAP_SECONDS = 60.0


async def test_given_a_release_without_webhooks_when_upgraded_and_taken_back_then_no_query_is_lost(
    scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    """As from a release before webhooks: there is no Secret, and whoever leads makes none."""
    environment, installer = scenario.environment, Installer.for_cluster(scenario.environment.cluster)
    await asyncio.to_thread(installer.install, OFF)
    delete_secret(environment)
    try:
        await scenario.make_resting_engine("moved")
        async with scenario.load("moved"), knocking(environment) as door:
            edited = await scenario.edit("moved", template=NEXT_IMAGE)
            await asyncio.to_thread(installer.install)
            turned_on = time.monotonic()
            assert REFUSAL in _problem(environment)
            await scenario.at_rest("moved", 2, since=edited)
            edited = await scenario.edit("moved", replicas=1)
            await asyncio.to_thread(installer.install, OFF)
            assert installed_configurations(environment) == []
            assert _problem(environment) == ""
            await scenario.at_rest("moved", 1, since=edited)
            edited = await scenario.edit("moved", replicas=2)
            await scenario.at_rest("moved", 2, since=edited)
    finally:
        await asyncio.to_thread(installer.install)
    with capsys.disabled():
        print(f"\nwebhooks off, on and off again: {door}", end="")
    assert door.longest_gap < LONGEST_GAP_SECONDS
    late = [each for each in door.knocks if each.problem and each.began_at > turned_on]
    assert late == [], "turning them off refuses nobody"


async def test_given_an_operator_that_is_uninstalled_then_nothing_of_its_webhooks_is_in_the_way(
    scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    environment, installer = scenario.environment, Installer.for_cluster(scenario.environment.cluster)
    await scenario.make_resting_engine("orphaned")
    try:
        async with scenario.load("orphaned"), knocking(environment) as door:
            await door.until(is_let_in=True)
            await asyncio.to_thread(installer.uninstall)
            assert installed_configurations(environment) == []
            edited = await scenario.edit("orphaned", replicas=1)
            await asyncio.to_thread(installer.install)
            await scenario.at_rest("orphaned", 1, since=edited)
    finally:
        await asyncio.to_thread(installer.install)
    with capsys.disabled():
        print(f"\nuninstalled and installed again: {door}", end="")
    assert REFUSAL in _problem(environment)


async def test_given_a_certificate_from_elsewhere_then_it_is_shown_and_nobody_puts_another_bundle_in_its_place(
    environment: Environment,
) -> None:
    installer, (authority, serving) = Installer.for_cluster(environment.cluster), _certificate_from_elsewhere()
    bundle = base64.b64encode(authority.certificate).decode()
    environment.cluster.http.create(f"/api/v1/namespaces/{NAMESPACE}/secrets", _secret(serving))
    try:
        await asyncio.to_thread(installer.install, f"webhook.certSecretName={ELSEWHERE}", f"webhook.caBundle={bundle}")
        assert REFUSAL in _problem(environment)
        assert set(bundles(environment)) == {bundle}
    finally:
        await asyncio.to_thread(installer.install)
        environment.cluster.http.delete(f"/api/v1/namespaces/{NAMESPACE}/secrets/{ELSEWHERE}")
    assert REFUSAL in _problem(environment)
    assert bundle not in bundles(environment)


def _certificate_from_elsewhere() -> tuple[pki.Pair, pki.Pair]:
    now, life = SystemClock().now(), timedelta(days=1)
    authority = pki.new_authority(now, life)
    return authority, pki.new_serving(authority, frozenset({f"{RELEASE}-webhook.{NAMESPACE}.svc"}), now, life)


def _secret(pair: pki.Pair) -> Manifest:
    data = {"tls.crt": pair.certificate.decode(), "tls.key": pair.key.decode()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": ELSEWHERE}, "stringData": data}


def _problem(environment: Environment) -> str:
    return write_problem(environment, an_engine("bad", template=BAD))
