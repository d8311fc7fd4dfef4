"""What do clients meet while TLS is turned on, off and on again under load?"""

import asyncio
import time
from contextlib import AsyncExitStack

from firebolt_local.testing.load import Load, steady_load
from firebolt_operator.refs import Manifest
from tests.e2e.secure_scenario import SecureScenario
from tests.e2e.secured import BOTH_LISTENERS
from tests.e2e.turns import Turn, turn

EACH_PER_SECOND = 50.0  # in the clear, and as many encrypted
REST_SECONDS = 5.0
MOST_REFUSED_SECONDS = 120.0
NO_LISTENER: Manifest = {"engine": None, "gateway": None}


async def test_given_queries_when_tls_is_turned_on_off_and_on_then_refusals_are_bounded_and_nothing_leaks(
    secure: SecureScenario,
) -> None:
    await secure.make_instance(tls={})
    await secure.make_resting_engine("switched", replicas=2)
    async with AsyncExitStack() as stack:
        plain, encrypted = [
            await stack.enter_async_context(
                steady_load(secure.plan("switched", is_encrypted=is_encrypted, per_second=EACH_PER_SECOND))
            )
            for is_encrypted in (False, True)
        ]
        turns = [
            await _turned(secure, "TLS on", BOTH_LISTENERS, plain, encrypted),
            await _turned(secure, "TLS off", NO_LISTENER, plain, encrypted),
            await _turned(secure, "TLS on again", BOTH_LISTENERS, plain, encrypted),
        ]
    print("\n".join(map(str, turns)))
    for each in turns:
        assert each.refused_seconds < MOST_REFUSED_SECONDS, each
    for each in (turns[0], turns[2]):
        assert each.first_encrypted is not None, each
        assert each.last_plain is None or each.last_plain < each.first_encrypted, each


async def _turned(secure: SecureScenario, name: str, listeners: Manifest, plain: Load, encrypted: Load) -> Turn:
    """At rest afterwards, where the wrong client is always refused and the right one never is."""
    since = time.monotonic()
    await secure.change_instance({"tls": listeners})
    await secure.until_ready()
    await secure.at_rest("switched", 2)
    rests_at = time.monotonic()
    await asyncio.sleep(REST_SECONDS)
    right, wrong = (plain, encrypted) if listeners is NO_LISTENER else (encrypted, plain)
    assert [each.problem for each in right.answers if each.due_at >= rests_at and not each.is_good] == []
    assert [each.due_at for each in wrong.answers if each.due_at >= rests_at and each.is_good] == []
    return turn(name, since, rests_at, plain.answers, encrypted.answers)
