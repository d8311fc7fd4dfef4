"""Builders for what the contract is tried on."""

import json
from dataclasses import dataclass, field

from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref, Resource

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
PODS = Resource("", "v1", "pods", "Pod")
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)


def a_config_map(namespace: str, name: str = "settings", **data: str) -> Manifest:
    metadata: Manifest = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def config_map_ref(namespace: str, name: str = "settings") -> Ref:
    return Ref(CONFIG_MAPS, namespace, name)


def config_maps_in(namespace: str, labels: str = "app=contract") -> Scope:
    """By label: every namespace gets a ConfigMap of the cluster's own sooner or later."""
    return Scope(resource=CONFIG_MAPS, namespace=namespace, labels=labels)


def labelled(manifest: Manifest) -> Manifest:
    return manifest | {"metadata": manifest["metadata"] | {"labels": {"app": "contract"}}}


def a_deployment(namespace: str, replicas: int = 1) -> Manifest:
    labels = {"app": "web"}
    container = {"name": "web", "image": "example.invalid/web:1"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def a_pod(namespace: str, name: str = "web-0") -> Manifest:
    container = {"name": "web", "image": "example.invalid/web:1"}
    metadata = {"name": name, "namespace": namespace}
    # A node that does not exist: nobody will run the pod, or finish its graceful end.
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], "nodeName": "nowhere", "automountServiceAccountToken": False},
    }


@dataclass(slots=True)
class Listener:
    """A write observer that remembers."""

    heard: list[tuple[str, Ref, str]] = field(default_factory=list[tuple[str, Ref, str]])

    def written(self, ref: Ref, body: bytes, /) -> None:
        self.heard.append(("written", ref, json.loads(body)["metadata"]["resourceVersion"]))

    def deleted(self, ref: Ref, uid: str, /) -> None:
        self.heard.append(("deleted", ref, uid))

    def unanswered(self, ref: Ref, /) -> None:
        self.heard.append(("unanswered", ref, ""))
