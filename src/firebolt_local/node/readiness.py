"""Are the nodes and the cluster's own pods ready?"""

from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_local.node import dns, volumes
from firebolt_operator.refs import Manifest

SYSTEM_DEPLOYMENTS = ((dns.NAMESPACE, dns.NAME), (volumes.NAMESPACE, volumes.NAME))


def ready_nodes(http: KubeHttp) -> dict[str, bool]:
    return {node["metadata"]["name"]: _is_ready(node) for node in http.get("/api/v1/nodes")["items"]}


def ready_deployments(http: KubeHttp) -> dict[str, bool]:
    found = {
        name: http.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
        for namespace, name in SYSTEM_DEPLOYMENTS
    }
    return {name: bool(each.get("status", {}).get("readyReplicas")) for name, each in found.items()}


def _is_ready(node: Manifest) -> bool:
    conditions: list[Manifest] = node.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
