"""Objects, events and a pod projection for tests of the runtime."""

import json
from typing import Literal

import msgspec

from firebolt_operator.kube.ports import WatchEvent
from firebolt_operator.refs import Ref, Resource

PODS = Resource("", "v1", "pods", "Pod")


class PodMetadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    name: str
    resource_version: str
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = {}


class PodStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    phase: str = ""


class Pod(msgspec.Struct, frozen=True, gc=False):
    metadata: PodMetadata
    status: PodStatus = PodStatus()


decode_pod = msgspec.json.Decoder(Pod).decode


def a_body(
    name: str = "a",
    version: int = 1,
    *,
    namespace: str = "ns",
    uid: str = "",
    labels: dict[str, str] | None = None,
    phase: object = "Running",
) -> bytes:
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": uid or f"uid-{name}",
        "resourceVersion": str(version),
        "labels": labels or {},
    }
    return json.dumps({"kind": "Pod", "metadata": metadata, "status": {"phase": phase}}).encode()


def an_event(kind: Literal["ADDED", "MODIFIED", "DELETED"], body: bytes) -> WatchEvent:
    return WatchEvent(kind, body)


def a_bookmark(version: int) -> WatchEvent:
    return WatchEvent("BOOKMARK", json.dumps({"metadata": {"resourceVersion": str(version)}}).encode())


def pod_ref(name: str = "a", namespace: str = "ns") -> Ref:
    return Ref(PODS, namespace, name)
