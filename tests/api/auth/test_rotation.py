"""A signing key is replaced, step by step, by the operator itself: engines roll along, and nothing is left behind."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from firebolt_operator.api.names import LABEL_ENGINE
from firebolt_operator.api.resources import (
    CERTIFICATES,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    PODS,
    SECRETS,
    STATEFULSETS,
)
from firebolt_operator.kube.ports import Scope
from tests.api.auth.people import AUTH, Administrator, key_phases
from tests.api.auth.running import Operator
from tests.support.cert_manager import CertManager

INTERVAL, RETENTION = timedelta(hours=721), timedelta(hours=26)
SECOND = "inst-auth-signing-signing-2"


@asynccontextmanager
async def witnessed(administrator: Administrator) -> AsyncGenerator[dict[str, list[str]]]:
    """Which keys each generation was made with, as long as somebody looks: most of them soon go again."""
    held = dict[str, list[str]]()

    async def look() -> None:
        scope = Scope(resource=STATEFULSETS, namespace=administrator.namespace, labels=LABEL_ENGINE)
        while True:
            for found in await administrator.client.list(scope):
                listed = found["metadata"].get("annotations", {}).get("firebolt.io/signing-keys", "")
                held[found["metadata"]["name"]] = [each.partition("=")[0] for each in listed.split(",")]
            await asyncio.sleep(0.1)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(look(), name="witness")
        yield held
        task.cancel()


async def begun(administrator: Administrator) -> None:
    await administrator.make_password()
    await administrator.make_instance(auth=AUTH)
    await administrator.make_engine()
    await administrator.until_serving(0)


async def test_a_whole_rotation(operator: Operator, administrator: Administrator, cert_manager: CertManager) -> None:
    del cert_manager
    await begun(administrator)
    async with witnessed(administrator) as held:
        operator.skip(INTERVAL)
        await administrator.until_keys(operator, signing_1="Active", signing_2="ValidationOnly")
        # Accepted everywhere: now it signs.
        await administrator.until_keys(operator, signing_1="ValidationOnly", signing_2="Active")
        # Nobody signs with the old one any more: it is retained for as long as its tokens may live.
        anchored = await administrator.until_instance(
            lambda found: found.status.auth and found.status.auth.signing_keys[0].retire_eligible_at, operator
        )
        assert key_phases(anchored) == {"signing-1": "ValidationOnly", "signing-2": "Active"}
        await administrator.until_serving(2)
        operator.skip(RETENTION)
        await administrator.until_keys(operator, signing_2="Active")
        await administrator.until_serving(3)
    assert held == {
        "eng-g0": ["signing-1"],
        "eng-g1": ["signing-1", "signing-2"],
        "eng-g2": ["signing-2", "signing-1"],
        "eng-g3": ["signing-2"],
    }
    await administrator.until(SECRETS, "inst-auth-signing", lambda found: found is None)
    assert await administrator.names(CERTIFICATES) == {SECOND}
    auth = (await administrator.instance()).status.auth
    assert auth is not None
    assert (auth.signing_key_generation, auth.pending_rotation_step) == (2, "")


async def test_given_a_key_that_is_not_issued_then_nothing_waits_for_it_but_the_rotation(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    await begun(administrator)
    cert_manager.is_waiting = True
    operator.skip(INTERVAL)
    await administrator.until(CERTIFICATES, SECOND, lambda found: found is not None)
    await operator.next_pass()
    assert key_phases(await administrator.instance()) == {"signing-1": "Active"}
    ready = await administrator.until_auth("Ready")
    assert ready.is_true
    cert_manager.is_waiting = False
    await administrator.until_keys(operator, signing_1="Active", signing_2="ValidationOnly")


async def test_given_an_engine_that_cannot_roll_then_the_rotation_names_it_and_goes_on_when_it_is_stopped(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    del cert_manager
    await begun(administrator)
    # What is made from now on never gets ready.
    stuck = {"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}}
    await administrator.patch(FIREBOLT_ENGINES, "eng", {"spec": {"template": stuck}})
    await administrator.until_engine(lambda engine: engine["status"]["currentGeneration"] == 1)
    operator.skip(INTERVAL)
    await administrator.until_keys(operator, signing_1="Active", signing_2="ValidationOnly")
    waiting = await administrator.until_auth("RotationWaitingForEngines", operator)
    assert waiting.is_true
    assert waiting.message.endswith("AwaitingPromotion for 1 engine(s) to converge: eng")
    metrics = await operator.scraped()
    assert "firebolt_instance_signing_key_rotation_lagging_engines" in metrics
    operator.skip(timedelta(minutes=16))
    await administrator.until_stalled(operator)
    assert key_phases(await administrator.instance()) == {"signing-1": "Active", "signing-2": "ValidationOnly"}
    await administrator.delete(FIREBOLT_ENGINES, "eng")
    await administrator.until(PODS, "eng-g0-0", lambda found: found is None)
    await administrator.until_keys(operator, signing_1="ValidationOnly", signing_2="Active")


async def test_given_an_instance_that_goes_in_the_middle_then_both_keys_go(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    del cert_manager
    await administrator.turn_auth_on()
    operator.skip(INTERVAL)
    await administrator.until(SECRETS, SECOND, lambda found: found is not None)
    await administrator.delete(FIREBOLT_INSTANCES, "inst")
    for name in ("inst-auth-signing", SECOND):
        await administrator.until(SECRETS, name, lambda found: found is None)
    assert await administrator.names(CERTIFICATES) == set()
