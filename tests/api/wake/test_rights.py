"""Are the rights of a gateway's account enough, and not more? The agent is refused nothing, and uses all."""

import asyncio
import json

from firebolt_operator.api.resources import FIREBOLT_INSTANCES, ROLES
from firebolt_operator.refs import Ref
from firebolt_operator.wake.own_instance import OwnInstance
from tests.api.wake.place import INSTANCE, Place, a_door
from tests.api.wake.running import an_agent, resolves, until_stamped

PROMISED = {
    ("get", "compute.firebolt.io/fireboltengines"),
    ("list", "compute.firebolt.io/fireboltengines"),
    ("get", "discovery.k8s.io/endpointslices"),
}
"""Part of what a gateway's account is said to have, for whoever brings an account or an agent of their own."""


async def test_given_its_account_when_the_agent_does_all_it_can_then_nothing_is_refused_and_nothing_left_over(
    place: Place,
) -> None:
    await place.make_instance()
    await place.make_engine()
    # Hours to leave: only then it may see whether its instance is deleted.
    account = await place.make_gateway_account(drain_timeout="2h")
    kubeconfig = place.kubeconfig_of(account)
    async with an_agent(kubeconfig, place.namespace) as asked, asyncio.TaskGroup() as tasks:
        resolves(place, asked)
        hold = tasks.create_task(asked.hold("eng"))
        await until_stamped(place)
        await place.point("eng", "10.0.0.1")
        assert (await hold).status == 200
    async with a_door(kubeconfig) as client:
        assert not await OwnInstance(client, Ref(FIREBOLT_INSTANCES, place.namespace, INSTANCE)).is_deleted()
    done = _requests(place, account)
    assert {request for request in done if request[2] in {401, 403}} == set()
    assert {(verb, resource) for verb, resource, _ in done} | PROMISED == await _granted(place, account)


async def _granted(place: Place, account: str) -> set[tuple[str, str]]:
    role = await place.client.get(Ref(ROLES, place.namespace, account))
    assert role is not None
    return {
        (verb, f"{group}/{resource}")
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def _requests(place: Place, account: str) -> set[tuple[str, str, int]]:
    """Verb, resource and answer of everything that it asked for, but for what anybody may ask."""
    user = f"system:serviceaccount:{place.namespace}:{account}"
    lines = map(json.loads, place.plane.audit_log.read_text().splitlines())
    return {
        (line["verb"], f"{what.get('apiGroup', '')}/{what['resource']}", line["responseStatus"]["code"])
        for line in lines
        if line["user"].get("username") == user and (what := line.get("objectRef", {})).get("resource")
    }
