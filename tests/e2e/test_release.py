"""Does anybody who asks notice that the operator is upgraded, rolled back, removed and installed again?"""

import asyncio

from firebolt_local.testing.installer import Installer
from tests.e2e.scenario import NEXT_IMAGE, Scenario

OTHER_POD = "podAnnotations.release=next"


async def test_given_load_when_the_release_goes_on_and_back_then_no_query_is_lost_and_rollouts_arrive(
    scenario: Scenario,
) -> None:
    installer = Installer.for_cluster(scenario.environment.cluster)
    await scenario.make_resting_engine("carried")
    try:
        async with scenario.load("carried"):
            edited = await scenario.edit("carried", template=NEXT_IMAGE)
            await asyncio.to_thread(installer.install, OTHER_POD)
            await scenario.at_rest("carried", 2, since=edited)
            edited = await scenario.edit("carried", replicas=1)
            await asyncio.to_thread(installer.rollback)
            await scenario.at_rest("carried", 1, since=edited)
            await asyncio.to_thread(installer.uninstall)
            edited = await scenario.edit("carried", replicas=2)
            await asyncio.to_thread(installer.install)
            await scenario.at_rest("carried", 2, since=edited)
    finally:
        await asyncio.to_thread(installer.install)
