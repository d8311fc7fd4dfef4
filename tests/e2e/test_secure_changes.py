"""Is any query lost, or any token refused, while keys, certificates and CAs are replaced under load?"""

import asyncio
import time

import jwt

from firebolt_local.testing.load import client_session
from firebolt_local.testing.tokens import Tokens
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import SigningKeyPhase, gateway_tls_name
from tests.e2e.scenario import NEXT_IMAGE
from tests.e2e.secure_scenario import SecureScenario, key_phases
from tests.e2e.secured import AUTHORITY

PARKING = {"enabled": True, "activeReplicas": 1, "idleReplicas": 0, "idleTimeout": "10s", "pollInterval": "2s"}
WAKING = 10  # queries for a parked engine, at once
SPARE_SECONDS = 3.0  # before the end of a token, from which on nobody looks at it any more
KEYS = ["signing-1", "signing-2"]


async def test_given_clients_that_verify_and_log_in_when_all_secrets_change_then_no_query_is_lost(
    secure: SecureScenario,
) -> None:
    await secure.make_instance()
    await secure.make_engine("steady", replicas=2)
    await secure.make_engine("sleepy", replicas=1, autoStop=PARKING)
    await secure.at_rest("steady", 2)
    await secure.at_rest("sleepy", 1)
    await secure.until_ready()
    async with secure.load("steady"), asyncio.TaskGroup() as group:
        early = group.create_task(_refused_before_its_end(secure, await _new_token(secure)), name="before")
        await secure.begin_rotation()
        late = group.create_task(_refused_before_its_end(secure, await _new_token(secure)), name="between")
        await _the_new_key_signs(secure)
        await _gateway_gets_another_certificate(secure)
        await _engine_gets_another_certificate(secure, "steady", 2)
        await _everybody_moves_to_another_authority(secure)
        edited = await secure.edit("steady", template=NEXT_IMAGE)
        await secure.at_rest("steady", 2, since=edited)
        assert (await early, await late) == ([], [])
        await secure.at_rest("sleepy", 0)
        assert await _problems_of_waking(secure, "sleepy") == []
    assert key_phases(_instance(secure))["signing-1"] != SigningKeyPhase.REMOVING


async def _the_new_key_signs(secure: SecureScenario) -> None:
    await secure.until_instance(_is_anchored, "every engine to sign with the new key")
    assert key_phases(_instance(secure)) == {"signing-1": "ValidationOnly", "signing-2": "Active"}
    assert await secure.key_ids(secure.direct_plan("steady")) == KEYS
    assert jwt.get_unverified_header(await _new_token(secure))["kid"] == "signing-2"


async def _gateway_gets_another_certificate(secure: SecureScenario) -> None:
    before = secure.gateways()
    await secure.renew(gateway_tls_name(secure.instance))
    await secure.until_other_gateways(before)


async def _engine_gets_another_certificate(secure: SecureScenario, engine: str, replicas: int) -> None:
    """It has rolled onto it when this is over."""
    generation = secure.engine(engine).status.current_generation
    await secure.renew(f"{engine}-g{generation}-engine-tls")
    await secure.until_generation(engine, generation + 1, replicas=replicas)


async def _everybody_moves_to_another_authority(secure: SecureScenario) -> None:
    """Clients learn of it first, as they would by a bundle of both; then one after the other is issued by it."""
    old = _instance(secure).status.rolled_engine_trust_cas
    await secure.renew(AUTHORITY)
    await secure.trust_authority()
    await _gateway_gets_another_certificate(secure)
    for engine, replicas in (("steady", 2), ("sleepy", 1)):
        await _engine_gets_another_certificate(secure, engine, replicas)
    await secure.until_instance(
        lambda found: _is_another(found.status.rolled_engine_trust_cas, old), "the old CA to be forgotten"
    )


async def _new_token(secure: SecureScenario) -> str:
    plan = secure.plan("steady")
    assert plan.login is not None
    async with client_session(plan) as session:
        return await Tokens(session, plan.login).current()


async def _refused_before_its_end(secure: SecureScenario, token: str) -> list[str]:
    """By whom, and when: both engines are asked again and again."""
    ends_at = jwt.decode(token, options={"verify_signature": False})["exp"]
    problems = list[str]()
    while (left := ends_at - time.time()) > SPARE_SECONDS:
        for engine in ("steady", "sleepy"):
            answer = await secure.ask_with(token, secure.plan(engine))
            problems += [] if answer.is_good else [f"{engine}, {left:.1f} s before its end: {answer.problem}"]
        await asyncio.sleep(0.5)
    return problems


async def _problems_of_waking(secure: SecureScenario, engine: str) -> list[str]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(secure.ask(engine), name=f"query {number}") for number in range(WAKING)]
    return [task.result().problem for task in tasks if not task.result().is_good]


def _instance(secure: SecureScenario) -> FireboltInstance:
    found = secure.found_instance()
    assert found is not None
    return found


def _is_another(trusted: list[str], than: list[str]) -> bool:
    return bool(trusted) and set(trusted).isdisjoint(than)


def _is_anchored(instance: FireboltInstance) -> bool:
    auth = instance.status.auth
    return auth is not None and any(key.retire_eligible_at is not None for key in auth.signing_keys)
