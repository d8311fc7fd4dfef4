"""Who may connect to whom, by the rules of NetworkPolicies? As the API describes them, for ingress and TCP."""

from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True)
class Peer:
    """A pod, or with an address alone somebody outside of the cluster's pods."""

    namespace: str = ""
    labels: dict[str, str] = field(default_factory=dict[str, str])
    ports: dict[str, int] = field(default_factory=dict[str, int])
    address: str = "10.1.2.3"


def pod_of(workload: Manifest, namespace: str) -> Peer:
    """What a Deployment or StatefulSet starts."""
    template = workload["spec"]["template"]
    ports = [port for container in template["spec"]["containers"] for port in container.get("ports", [])]
    return Peer(namespace, template["metadata"]["labels"], {port["name"]: port["containerPort"] for port in ports})


def may_connect(policies: list[Manifest], source: Peer, target: Peer, port: int) -> bool:
    """A pod that no policy selects is open to anybody."""
    of_target = [each for each in policies if _concerns(each, target)]
    rules = [rule for policy in of_target for rule in policy["spec"].get("ingress") or []]
    return not of_target or any(_has_port(rule, target, port) and _lets_in(rule, source, target) for rule in rules)


def _concerns(policy: Manifest, pod: Peer) -> bool:
    same = policy["metadata"]["namespace"] == pod.namespace
    return same and "Ingress" in policy["spec"]["policyTypes"] and _selects(policy["spec"]["podSelector"], pod.labels)


def _has_port(rule: Manifest, target: Peer, port: int) -> bool:
    asked = rule.get("ports", [])
    return not asked or port in [target.ports.get(each["port"], each["port"]) for each in asked]


def _lets_in(rule: Manifest, source: Peer, target: Peer) -> bool:
    peers = rule.get("from", [])
    return not peers or any(_is(peer, source, target) for peer in peers)


def _is(peer: Manifest, source: Peer, target: Peer) -> bool:
    if "ipBlock" in peer:
        return ip_address(source.address) in ip_network(peer["ipBlock"]["cidr"])
    if not source.namespace:
        return False
    named = {"kubernetes.io/metadata.name": source.namespace}
    by_namespace = (
        _selects(peer["namespaceSelector"], named)
        if "namespaceSelector" in peer
        else source.namespace == target.namespace
    )
    return by_namespace and _selects(peer.get("podSelector", {}), source.labels)


def _selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    wanted = selector.get("matchLabels", {}).items()
    expressions = selector.get("matchExpressions", [])
    assert {each["operator"] for each in expressions} <= {"Exists"}
    return wanted <= labels.items() and all(each["key"] in labels for each in expressions)
