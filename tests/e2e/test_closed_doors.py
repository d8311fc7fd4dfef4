"""Can a pod of the cluster reach Envoy's admin interface, on any port of a gateway, however it writes the path?"""

import asyncio

from firebolt_operator.api.names import COMPONENT_GATEWAY, LABEL_COMPONENT, LABEL_INSTANCE
from firebolt_operator.api.resources import PODS
from firebolt_operator.refs import Manifest
from tests.e2e.environment import INSTANCE
from tests.e2e.informer import is_ready
from tests.e2e.scenario import Scenario
from tests.support.dataplane.raw_requests import forbidden_answers

METRICS_PORT = 9090
CLOSED = (9901, 9902)  # admin interface and hold endpoint: on loopback only


async def test_given_forty_raw_requests_when_sent_to_every_port_of_every_gateway_then_the_admin_interface_answers_none(
    scenario: Scenario,
) -> None:
    await scenario.make_resting_engine("watched", replicas=1)
    before = _gateways(scenario)
    assert before
    answered = {
        (pod["metadata"]["name"], port): await forbidden_answers(pod["status"]["podIP"], port)
        for pod in before
        for port in _ports(pod)
    }
    told = [
        (place, name)
        for place, found in answered.items()
        for name, answer in found.items()
        if answer.is_of_the_admin_interface
    ]
    assert told == []
    assert {port for _, port in answered} >= {8080, METRICS_PORT, 9903}
    for pod in before:
        for port in CLOSED:
            assert await _is_closed(pod["status"]["podIP"], port), f"{port} is open to everybody"
    # Nobody was told to stop, and nobody did.
    assert (await scenario.ask("watched")).problem == ""
    assert {_restarts(pod) for pod in _gateways(scenario)} == {_restarts(pod) for pod in before}


async def _is_closed(address: str, port: int) -> bool:
    try:
        async with asyncio.timeout(10):
            _, writer = await asyncio.open_connection(address, port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


def _gateways(scenario: Scenario) -> list[Manifest]:
    labels = {LABEL_INSTANCE: INSTANCE, LABEL_COMPONENT: COMPONENT_GATEWAY}.items()
    pods = [pod for pod in scenario.informer.of_kind(PODS) if labels <= pod["metadata"].get("labels", {}).items()]
    return [pod for pod in pods if is_ready(pod) and "deletionTimestamp" not in pod["metadata"]]


def _ports(pod: Manifest) -> list[int]:
    """As declared."""
    return sorted(port["containerPort"] for each in pod["spec"]["containers"] for port in each.get("ports", []))


def _restarts(pod: Manifest) -> tuple[str, int]:
    statuses: list[Manifest] = pod["status"]["containerStatuses"]
    return pod["metadata"]["name"], sum(each["restartCount"] for each in statuses)
