"""With the chart's NetworkPolicies: does everything still reach what it needs, and nobody else anything?"""

import copy
from typing import Any

import pytest
import yaml

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.api import names
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.gateway.objects import gateway_objects
from firebolt_operator.instance.render.metadata_service import metadata_deployment
from firebolt_operator.instance.render.postgres import postgres_statefulset
from firebolt_operator.refs import Manifest
from tests.support import gateways
from tests.support.chart import only, refusal, rendered
from tests.support.engine_inputs import engine_inputs
from tests.support.kubectl import kubectl
from tests.support.network_policies import Peer, may_connect, pod_of

SYSTEM, TEAM = "system", "team"
METRICS_PORT = 9191
INSTANCE = gateways.an_instance(namespace=TEAM, metrics_port=METRICS_PORT)
CHART = rendered({}, namespace=SYSTEM)

OPERATOR = pod_of(only(CHART, "Deployment"), SYSTEM)
GATEWAY = pod_of(gateway_objects(gateways.gateway_inputs(INSTANCE, wake=True)).deployment, TEAM)
ENGINE = pod_of(engine_statefulset(engine_inputs({"uiSidecar": True}), 3), TEAM)
METADATA = pod_of(metadata_deployment(INSTANCE, "m:1"), TEAM)
POSTGRES = pod_of(postgres_statefulset(INSTANCE, "p:1"), TEAM)
PROMETHEUS = Peer("monitoring", {"app.kubernetes.io/name": "prometheus"})
CLIENT = Peer("apps", {"app": "dashboard"})
OWN_CLIENT = Peer(TEAM, {"app": "loader"})
BACKUP = Peer(TEAM, {"app": "backup"})
NEIGHBOUR = Peer(TEAM, {"app": "something"})
ELSEWHERE = Peer("other", ENGINE.labels)
API_SERVER = Peer(address="172.16.0.10")
STRANGER = Peer(address="172.99.0.10")

ONLY_THESE: dict[str, Any] = {
    "enabled": True,
    "namespaces": [TEAM],
    "clients": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "apps"}}}],
    "apiServers": [{"ipBlock": {"cidr": "172.16.0.0/24"}}],
    "prometheus": [{"namespaceSelector": {}, "podSelector": {"matchLabels": PROMETHEUS.labels}}],
    "engineClients": [{"podSelector": {"matchLabels": OWN_CLIENT.labels}}],
    "databaseClients": [{"podSelector": {"matchLabels": BACKUP.labels}}],
}
FLOWS = [
    pytest.param(CLIENT, GATEWAY, names.PORT_GATEWAY, id="queries"),
    pytest.param(GATEWAY, ENGINE, names.PORT_QUERY, id="queries-and-health-checks"),
    pytest.param(ENGINE, ENGINE, 23456, id="nodes-among-each-other"),
    pytest.param(ENGINE, METADATA, names.PORT_METADATA, id="metadata"),
    pytest.param(METADATA, POSTGRES, names.PORT_POSTGRES, id="catalog"),
    pytest.param(OPERATOR, ENGINE, names.PORT_ENGINE_METRICS, id="scrape-by-address"),
    pytest.param(API_SERVER, ENGINE, names.PORT_ENGINE_METRICS, id="scrape-through-the-api-server"),
    pytest.param(PROMETHEUS, ENGINE, names.PORT_ENGINE_METRICS, id="metrics-of-engines"),
    pytest.param(PROMETHEUS, GATEWAY, METRICS_PORT, id="metrics-of-envoy"),
    pytest.param(PROMETHEUS, GATEWAY, names.PORT_WAKE_METRICS, id="metrics-of-the-wake-agent"),
    pytest.param(PROMETHEUS, OPERATOR, 8443, id="metrics-of-the-operator"),
    pytest.param(API_SERVER, OPERATOR, 9443, id="admission"),
    pytest.param(OWN_CLIENT, ENGINE, names.PORT_QUERY, id="queries-past-the-gateway"),
    pytest.param(OWN_CLIENT, ENGINE, names.PORT_WEB_UI, id="ui"),
    pytest.param(BACKUP, POSTGRES, names.PORT_POSTGRES, id="backup"),
]
DOORS = [
    (GATEWAY, names.PORT_GATEWAY), (GATEWAY, METRICS_PORT), (GATEWAY, names.PORT_WAKE_METRICS),
    (ENGINE, names.PORT_QUERY), (ENGINE, names.PORT_ENGINE_METRICS), (ENGINE, names.PORT_WEB_UI), (ENGINE, 23456),
    (METADATA, names.PORT_METADATA), (POSTGRES, names.PORT_POSTGRES), (OPERATOR, 8443), (OPERATOR, 9443),
    (OPERATOR, 8081),
]  # fmt: skip


def policies(**values: Any) -> list[Manifest]:
    everything = rendered({"networkPolicy": ONLY_THESE | values}, namespace=SYSTEM)
    return [each for each in everything if each["kind"] == "NetworkPolicy"]


@pytest.mark.parametrize(("source", "target", "port"), FLOWS)
def test_what_has_to_flow_flows_and_only_because_a_rule_says_so(source: Peer, target: Peer, port: int) -> None:
    given = policies()
    assert may_connect(given, source, target, port)
    for policy, index in ((each, number) for each in given for number in range(len(each["spec"]["ingress"]))):
        others = [copy.deepcopy(each) for each in given]
        del others[given.index(policy)]["spec"]["ingress"][index]
        if not may_connect(others, source, target, port):
            return
    pytest.fail("no single rule lets this in")


@pytest.mark.parametrize("source", [NEIGHBOUR, ELSEWHERE, STRANGER], ids=["neighbour", "elsewhere", "stranger"])
def test_nobody_else_gets_in_anywhere(source: Peer) -> None:
    assert [(target.labels, port) for target, port in DOORS if may_connect(policies(), source, target, port)] == []


def test_each_pod_gets_no_further_than_it_has_to() -> None:
    sources = {
        "gateway": GATEWAY, "metadata": METADATA, "postgres": POSTGRES, "engine": ENGINE, "prometheus": PROMETHEUS,
        "client": CLIENT,
    }  # fmt: skip
    doors = {"postgres": (POSTGRES, 5432), "metadata": (METADATA, 7000), "engine": (ENGINE, 3473)}
    found = {
        (source, door)
        for source, peer in sources.items()
        for door, (target, port) in doors.items()
        if may_connect(policies(), peer, target, port)
    }
    assert found == {("gateway", "engine"), ("engine", "engine"), ("engine", "metadata"), ("metadata", "postgres")}


def test_an_empty_list_of_clients_servers_or_scrapers_means_anybody_and_no_more() -> None:
    given = policies(clients=[], apiServers=[], prometheus=[], engineClients=[], databaseClients=[])
    open_to_all = [port for target, port in DOORS if may_connect(given, STRANGER, target, port)]
    assert open_to_all == [8080, METRICS_PORT, 9903, 9090, 8443, 9443]
    assert not may_connect(given, OWN_CLIENT, ENGINE, names.PORT_QUERY)
    assert not may_connect(given, BACKUP, POSTGRES, names.PORT_POSTGRES)


def test_watched_namespaces_are_those_with_policies_unless_said_otherwise() -> None:
    values = {"networkPolicy": {"enabled": True}, "watchNamespaces": ["a", "b"]}
    found = {each["metadata"]["namespace"] for each in rendered(values) if each["kind"] == "NetworkPolicy"}
    assert found == {"system", "a", "b"}
    assert [each for each in rendered({}) if each["kind"] == "NetworkPolicy"] == []


def test_policies_without_a_namespace_to_guard_are_refused() -> None:
    assert "networkPolicy.namespaces" in refusal({"networkPolicy": {"enabled": True}})
    assert "clients" in refusal({"networkPolicy": {"clients": [{"podSelektor": {}}]}})


def test_what_is_off_needs_no_door() -> None:
    values = {"networkPolicy": ONLY_THESE, "metrics": {"enabled": False}, "webhook": {"enabled": False}}
    given = [each for each in rendered(values, namespace=SYSTEM) if each["kind"] == "NetworkPolicy"]
    assert [port for target, port in DOORS if target is OPERATOR and may_connect(given, API_SERVER, target, port)] == []


def test_the_api_server_takes_them(control_plane: ControlPlane, namespace: str) -> None:
    values = {"networkPolicy": ONLY_THESE | {"namespaces": [namespace]}}
    given = [each for each in rendered(values, namespace=namespace) if each["kind"] == "NetworkPolicy"]
    words = ("apply", "--server-side", "--validate=strict", "--filename", "-")
    said = kubectl(control_plane.kubeconfig, words, stdin=yaml.safe_dump_all(given))
    assert said.count("serverside-applied") == len(given) == 5
