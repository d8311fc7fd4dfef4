"""What has Kubernetes itself still to do in a namespace? As long as there is something, nobody is at rest.

A busy machine makes controllers slow, and silence is no sign of rest then. What they have not done yet is seen instead.
"""

from collections.abc import Iterator
from typing import Final

from firebolt_local.cluster.kube_http import has_condition
from firebolt_local.testing.inventory import described
from firebolt_local.testing.ledger import World
from firebolt_operator.refs import Manifest

_WORKLOADS: Final = frozenset({"StatefulSet", "Deployment", "ReplicaSet"})
_SERVICE_OF: Final = "kubernetes.io/service-name"


def unsettled(world: World) -> list[str]:
    uids = {each["metadata"]["uid"] for each in world.values()}
    found = [f"{described(each)} {words}" for each in world.values() if (words := _left_to_do(each, uids))]
    return [*found, *_unnoticed(world)]


def _left_to_do(manifest: Manifest, uids: set[str]) -> str:
    metadata = manifest["metadata"]
    if "deletionTimestamp" in metadata:
        return "is being deleted"
    owners: list[Manifest] = metadata.get("ownerReferences", [])
    if owners and not any(each["uid"] in uids for each in owners):
        return "waits for the garbage collector"
    return _workload(manifest) if manifest["kind"] in _WORKLOADS else ""


def _workload(manifest: Manifest) -> str:
    status: Manifest = manifest.get("status", {})
    if status.get("observedGeneration") != manifest["metadata"].get("generation"):
        return "was edited, and its controller has not seen it"
    return "" if status.get("replicas", 0) == manifest["spec"]["replicas"] else "has not the number of pods it wants"


def _unnoticed(world: World) -> Iterator[str]:
    """Pods that a Service does not lead to yet, or still leads to."""
    for (kind, name), service in world.items():
        selector: Manifest = service["spec"].get("selector") or {} if kind == "Service" else {}
        if selector and _ready_endpoints(world, name) != _ready_pods(world, service, selector):
            yield f"Service {name} does not lead to its pods yet"


def _ready_endpoints(world: World, service: str) -> set[str]:
    slices = [
        each
        for (kind, _), each in world.items()
        if kind == "EndpointSlice" and each["metadata"].get("labels", {}).get(_SERVICE_OF) == service
    ]
    endpoints: list[Manifest] = [endpoint for each in slices for endpoint in each.get("endpoints") or []]
    return {each.get("targetRef", {}).get("name", "") for each in endpoints if each.get("conditions", {}).get("ready")}


def _ready_pods(world: World, service: Manifest, selector: Manifest) -> set[str]:
    is_early = service["spec"].get("publishNotReadyAddresses", False)
    return {
        name
        for (kind, name), pod in world.items()
        if kind == "Pod"
        and selector.items() <= pod["metadata"].get("labels", {}).items()
        and (has_condition(pod, "Ready") or (is_early and pod.get("status", {}).get("podIP")))
    }
