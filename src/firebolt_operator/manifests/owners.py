"""Whose is a rendered object? It names the object that controls it, and goes when that goes."""

from collections.abc import Mapping
from dataclasses import dataclass

from firebolt_operator.refs import Manifest, Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    resource: Resource
    namespace: str
    name: str
    uid: str

    def reference(self) -> Manifest:
        return {
            "apiVersion": self.resource.api_version,
            "kind": self.resource.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }


def child_metadata(owner: Owner, name: str, labels: Mapping[str, str]) -> Manifest:
    return {
        "name": name,
        "namespace": owner.namespace,
        "labels": dict(labels),
        "ownerReferences": [owner.reference()],
    }
