"""Is any query lost, or any token refused, when the operator dies again and again in the middle of a rotation?"""

from functools import partial

from tests.e2e.operator_pod import leading_operator
from tests.e2e.rotation_points import ROTATION_POINTS
from tests.e2e.secure_scenario import AT_ONCE, LIMIT_SECONDS, SecureScenario, key_phases
from tests.e2e.secured import NEVER


async def test_given_a_rotation_when_the_operator_is_killed_at_ten_moments_then_the_last_one_finishes_it(
    secure: SecureScenario,
) -> None:
    await secure.make_instance()
    await secure.make_resting_engine("rotating", replicas=1)
    await secure.until_ready()
    async with secure.load("rotating"):
        await secure.set_rotation(AT_ONCE)
        for moment, is_there in ROTATION_POINTS.items():
            operator = await leading_operator(secure.environment, secure.client)
            await secure.until(partial(is_there, secure, "rotating"), moment, seconds=LIMIT_SECONDS)
            await operator.kill()
        await secure.set_rotation(NEVER)
        await leading_operator(secure.environment, secure.client)
        await secure.until_ready()
        await secure.at_rest("rotating", 1)
    found = secure.found_instance()
    assert found is not None
    assert key_phases(found) == {"signing-1": "ValidationOnly", "signing-2": "Active"}
    assert secure.engine("rotating").status.active_generation == 2
