"""Does a program inside the pod network meet pods at their addresses, and the API server where it always is?"""

import os
import subprocess
from pathlib import Path

import pytest

from firebolt_local.cluster.pod_network import PodNetwork
from firebolt_local.cluster.scrape import Behaviour, Mode, ScrapeControl
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_local.errors import LocalError
from tests.support.workloads import Pods, eventually

FETCH = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())"
FETCH_API = """
import ssl, sys, urllib.request
tls = ssl.create_default_context(cafile=sys.argv[2])
print(urllib.request.urlopen(sys.argv[1] + "/version", context=tls, timeout=5).read().decode())
"""

DIAL = """
import socket, sys
for _ in range(500):
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5).close()
"""


def run_inside(network: PodNetwork, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [*network.prefix, "python3", "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)


@pytest.fixture
def pods(simulated_pods: SimulatedPods, namespace: str) -> Pods:
    pods = Pods(simulated_pods.control_plane.http, namespace)
    for name in ("one", "two"):
        pods.create(name)
    eventually(lambda: pods.is_ready("one") and pods.is_ready("two"))
    return pods


@pytest.mark.root
def test_given_two_pods_then_each_answers_at_its_own_address(
    pods: Pods, pod_network: PodNetwork, scrape: ScrapeControl
) -> None:
    scrape.set(pods.namespace, "one", Behaviour(running=3))
    for name, running in (("one", 3), ("two", 0)):
        address = pods.get(name)["status"]["podIP"]
        answer = run_inside(pod_network, FETCH, f"http://{address}:9090/metrics")
        assert f"firebolt_running_queries {running}" in answer.stdout, answer.stderr


@pytest.mark.root
def test_given_a_pod_that_refuses_then_its_address_hangs_up(
    pods: Pods, pod_network: PodNetwork, scrape: ScrapeControl
) -> None:
    scrape.set(pods.namespace, "one", Behaviour(mode=Mode.REFUSE))
    answer = run_inside(pod_network, FETCH, f"http://{pods.get('one')['status']['podIP']}:9090/metrics")
    assert "Remote end closed connection" in answer.stderr


@pytest.mark.root
def test_given_the_api_server_outside_then_it_is_at_the_same_address_inside(
    simulated_pods: SimulatedPods, pod_network: PodNetwork
) -> None:
    plane = simulated_pods.control_plane
    answer = run_inside(pod_network, FETCH_API, plane.server, str(plane.ca_file)).stdout
    assert plane.http.get("/version")["gitVersion"] in answer


@pytest.mark.root
def test_given_programs_inside_that_dial_the_api_server_then_the_way_in_leads_nowhere_else_meanwhile(
    simulated_pods: SimulatedPods, pod_network: PodNetwork
) -> None:
    way_in = Path(f"/proc/{pod_network.relay_pid}/ns/net")
    seen = {way_in.readlink()}
    command = [*pod_network.prefix, "python3", "-c", DIAL, str(simulated_pods.control_plane.port)]
    with subprocess.Popen(command) as dialling:
        while dialling.poll() is None:
            seen.add(way_in.readlink())
    assert (dialling.returncode, len(seen)) == (0, 1)


@pytest.mark.root
def test_then_the_host_itself_knows_nothing_of_the_pods(pod_network: PodNetwork) -> None:
    routes = subprocess.run(["ip", "route", "show", "table", "all"], capture_output=True, text=True, check=True).stdout
    assert "10.200.0.0/14" not in routes
    assert Path(f"/proc/{pod_network.relay_pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()


def test_given_no_root_then_it_says_what_is_needed(
    simulated_pods: SimulatedPods, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LocalError, match="needs root; run it with sudo"):
        simulated_pods.open_network()
