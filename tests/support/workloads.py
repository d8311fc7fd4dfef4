"""Small workloads, and waiting for what a real cluster makes of them."""

import time
from collections.abc import Callable
from typing import TypeVar

from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_operator.refs import Manifest

T = TypeVar("T")
LABELS = {"app": "sample"}


def eventually(look: Callable[[], T | None], *, seconds: float = 120) -> T:
    """The first answer that is there and true; the cluster decides when."""
    deadline = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"nothing after {seconds} s: {look}")
        time.sleep(0.05)


def a_pod_template(annotations: dict[str, str] | None = None) -> Manifest:
    containers = [{"name": "engine", "image": "engine:1"}, {"name": "side", "image": "side:1"}]
    return {"metadata": {"labels": LABELS, "annotations": annotations or {}}, "spec": {"containers": containers}}


def a_pod(name: str, annotations: dict[str, str] | None = None) -> Manifest:
    template = a_pod_template(annotations)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **template["metadata"]},
        "spec": template["spec"],
    }


def a_statefulset(name: str, *, replicas: int = 1, with_volume: bool = False) -> Manifest:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "podManagementPolicy": "Parallel",
            "serviceName": name,
            "selector": {"matchLabels": LABELS},
            "template": a_pod_template(),
            "volumeClaimTemplates": [claim] if with_volume else [],
        },
    }


class Pods:
    """The pods of one namespace, as a test sees and steers them."""

    def __init__(self, http: KubeHttp, namespace: str) -> None:
        self.http = http
        self.namespace = namespace
        self.path = f"/api/v1/namespaces/{namespace}/pods"

    def get(self, name: str) -> Manifest:
        return self.http.get(f"{self.path}/{name}")

    def create(self, name: str, annotations: dict[str, str] | None = None) -> Manifest:
        return self.http.create(self.path, a_pod(name, annotations))

    def annotate(self, name: str, annotations: dict[str, str | None]) -> None:
        self.http.patch(f"{self.path}/{name}", {"metadata": {"annotations": annotations}})

    def delete(self, name: str) -> None:
        self.http.delete(f"{self.path}/{name}")

    def is_ready(self, name: str) -> bool:
        return self.condition(name, "Ready").get("status") == "True"

    def condition(self, name: str, kind: str) -> Manifest:
        found = [c for c in self.get(name)["status"].get("conditions", []) if c["type"] == kind]
        return found[0] if found else {}

    def state(self, name: str, container: str = "engine") -> Manifest:
        statuses = self.get(name)["status"].get("containerStatuses", [])
        found: Manifest = next((status["state"] for status in statuses if status["name"] == container), {})
        return found

    def scrape(self, name: str, timeout_seconds: float = 10) -> tuple[int, str]:
        http = KubeHttp(self.http.server, self.http.tls, timeout_seconds)
        return http.text("GET", f"{self.path}/{name}:9090/proxy/metrics")
