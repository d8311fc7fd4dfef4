"""Can a pod of the cluster reach Envoy's admin interface, on any port of our pods, however it writes the path?"""

import asyncio

from firebolt_operator.api.names import (
    COMPONENT_GATEWAY,
    COMPONENT_METADATA,
    COMPONENT_POSTGRES,
    LABEL_COMPONENT,
    LABEL_ENGINE,
)
from firebolt_operator.api.resources import PODS
from firebolt_operator.refs import Manifest
from tests.e2e.informer import is_ready
from tests.e2e.operator_pod import operator_pods
from tests.e2e.scenario import Scenario
from tests.support.dataplane.raw_requests import RawAnswer, forbidden_answers

METRICS_PORT = 9090
CLOSED = (9901, 9902)  # admin interface and hold endpoint: on loopback only
ENGINE, OPERATOR = "engine", "operator"
OURS = {COMPONENT_GATEWAY, COMPONENT_METADATA, COMPONENT_POSTGRES, ENGINE, OPERATOR}


async def test_given_forty_raw_requests_when_sent_to_every_port_of_every_pod_then_the_admin_interface_answers_none(
    scenario: Scenario,
) -> None:
    await scenario.make_resting_engine("watched", replicas=1)
    before = await _our_pods(scenario)
    assert {_component(pod) for pod in before} == OURS
    # Whatever any of them listens on is tried with all of them: nobody has to declare a port.
    ports = {port for pod in before for port in _ports(pod)} | set(CLOSED)
    async with asyncio.TaskGroup() as group:
        asked = {
            (pod["metadata"]["name"], port): group.create_task(_knock(pod, port)) for pod in before for port in ports
        }
    told = [
        (place, name)
        for place, task in asked.items()
        for name, answer in task.result().items()
        if answer.is_of_the_admin_interface
    ]
    assert told == []
    answered = {place for place, task in asked.items() if task.result()}
    assert {name for name, _ in answered} == {pod["metadata"]["name"] for pod in before}
    assert answered >= {(name, port) for name in _gateways(before) for port in (8080, METRICS_PORT, 9903)}
    assert not [place for place in answered if place[1] in CLOSED], "open to everybody"
    # Nobody was told to stop, and nobody did.
    assert (await scenario.ask("watched")).problem == ""
    assert {_restarts(pod) for pod in await _our_pods(scenario)} == {_restarts(pod) for pod in before}


async def _knock(pod: Manifest, port: int) -> dict[str, RawAnswer]:
    """Nothing where nobody listens."""
    address = pod["status"]["podIP"]
    return {} if await _is_closed(address, port) else await forbidden_answers(address, port)


async def _is_closed(address: str, port: int) -> bool:
    try:
        async with asyncio.timeout(10):
            _, writer = await asyncio.open_connection(address, port)
    except ConnectionRefusedError:
        return True
    writer.close()
    return False


async def _our_pods(scenario: Scenario) -> list[Manifest]:
    found = [*scenario.informer.of_kind(PODS), *await operator_pods(scenario.client)]
    ready = [pod for pod in found if is_ready(pod) and "deletionTimestamp" not in pod["metadata"]]
    return [pod for pod in ready if _component(pod) in OURS]


def _component(pod: Manifest) -> str:
    labels: dict[str, str] = pod["metadata"].get("labels", {})
    if LABEL_ENGINE in labels:
        return ENGINE
    return OPERATOR if "control-plane" in labels else labels.get(LABEL_COMPONENT, "")


def _gateways(pods: list[Manifest]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods if _component(pod) == COMPONENT_GATEWAY]


def _ports(pod: Manifest) -> list[int]:
    """As declared."""
    return sorted(port["containerPort"] for each in pod["spec"]["containers"] for port in each.get("ports", []))


def _restarts(pod: Manifest) -> tuple[str, int]:
    statuses: list[Manifest] = pod["status"]["containerStatuses"]
    return pod["metadata"]["name"], sum(each["restartCount"] for each in statuses)
