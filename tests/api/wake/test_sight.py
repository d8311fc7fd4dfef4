"""What does an agent make of an API server that lets it see only part of the time, or only when asked?"""

import asyncio

from firebolt_operator.wake.routing import service_host
from tests.api.wake.place import Place
from tests.api.wake.running import HastyClock, Reply, an_agent, pending

SYNCED = "firebolt_gateway_wake_synced"


async def test_given_an_account_that_may_list_but_not_watch_when_engines_come_and_go_then_the_agent_follows(
    place: Place,
) -> None:
    await place.make_engine()
    account = await place.make_account("mine", "get", "patch")
    await place.allow_slices(account, "get", "list")
    async with an_agent(place.kubeconfig_of(account), place.namespace, clock=HastyClock(), hold_timeout=3000) as asked:
        asked.envoy.hosts.add(service_host("eng", place.namespace))
        async with asyncio.TaskGroup() as group:
            held = group.create_task(asked.hold("eng"))
            await asked.until_metric(pending("eng"), 1)
            await place.point("eng", "10.0.0.1")
        assert held.result() == Reply(200, "released")
        await place.point("eng")
        await asked.until_metric("firebolt_gateway_wake_ready_engines", 0)
        assert await asked.metric(SYNCED) == 1


async def test_given_an_agent_that_may_see_nothing_any_more_then_queries_go_on_until_it_may_again(
    place: Place,
) -> None:
    await place.make_engine()
    account = await place.make_account("mine", "get", "patch")
    sight = await place.allow_slices(account, "get", "list", "watch")
    async with an_agent(place.kubeconfig_of(account), place.namespace, clock=HastyClock(), hold_timeout=3000) as asked:
        await place.delete(sight)
        await asked.until_metric(SYNCED, 0)
        assert await asked.hold("eng") == Reply(200, "unsynced")
        await place.allow_slices(account, "get", "list")
        await asked.until_metric(SYNCED, 1)
        async with asyncio.TaskGroup() as group:
            held = group.create_task(asked.hold("eng"))
            await asked.until_metric(pending("eng"), 1)
            held.cancel()
