"""Which objects answer the cluster's names? CoreDNS behind one service address."""

from firebolt_local.images.system import COREDNS
from firebolt_operator.refs import Manifest

NAMESPACE = "kube-system"
NAME = "coredns"
_LABELS = {"k8s-app": "kube-dns"}
# No cache: an answer is as old as the API server's word for it, which lets a rollout's new addresses be seen at once.
_COREFILE = """\
.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa {
        ttl 5
    }
}
"""


def dns_objects(address: str) -> list[tuple[str, Manifest]]:
    """Collection paths and what is created there, in order."""
    core, rbac = f"/api/v1/namespaces/{NAMESPACE}", "/apis/rbac.authorization.k8s.io/v1"
    return [
        (f"{core}/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME}}),
        (f"{rbac}/clusterroles", _role()),
        (f"{rbac}/clusterrolebindings", cluster_role_binding(NAME, NAMESPACE)),
        (
            f"{core}/configmaps",
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": {"Corefile": _COREFILE}},
        ),
        (f"{core}/services", _service(address)),
        (f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments", _deployment()),
    ]


def deployment(name: str, labels: dict[str, str], pod_spec: Manifest) -> Manifest:
    """Of the cluster's own: one pod with an account of the same name."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"serviceAccountName": name, **pod_spec}},
        },
    }


def cluster_role_binding(name: str, namespace: str) -> Manifest:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }


def _role() -> Manifest:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
        "rules": [
            {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": ["list", "watch"]},
            {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
        ],
    }


def _service(address: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "labels": _LABELS},
        "spec": {
            "clusterIP": address,
            "selector": _LABELS,
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP"},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
            ],
        },
    }


def _deployment() -> Manifest:
    container = {
        "name": NAME,
        "image": COREDNS,
        "imagePullPolicy": "Never",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "170Mi"}},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/coredns", "readOnly": True}],
    }
    pod_spec = {
        "priorityClassName": "system-cluster-critical",
        # It is the one who answers names; it cannot ask itself.
        "dnsPolicy": "Default",
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": NAME}}],
    }
    return deployment(NAME, _LABELS, pod_spec)
