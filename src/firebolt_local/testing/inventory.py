"""What was made because of an engine or an instance, and what is there too much or too little?"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from firebolt_operator.refs import Manifest

EVERY_NAMESPACE_HAS: Final = frozenset({"ConfigMap kube-root-ca.crt", "ServiceAccount default"})
CAUSES: Final = frozenset({"FireboltEngine", "FireboltEngineClass", "FireboltInstance"})
NAMED_AT_RANDOM: Final = frozenset({"EndpointSlice", "ControllerRevision", "ReplicaSet"})


def differences(found: Iterable[Manifest], wanted: Counter[str]) -> list[str]:
    there = inventory(found)
    return [
        *(f"left over: {name}" for name in sorted((there - wanted).elements())),
        *(f"missing: {name}" for name in sorted((wanted - there).elements())),
    ]


def inventory(found: Iterable[Manifest]) -> Counter[str]:
    """Everything that somebody made because of an engine or an instance."""
    made = (each for each in found if each["kind"] not in CAUSES and not is_history(each))
    return Counter(name for each in made if (name := described(each)) not in EVERY_NAMESPACE_HAS)


def is_history(manifest: Manifest) -> bool:
    """Kubernetes keeps what a Deployment was before, without pods."""
    return bool(manifest["kind"] == "ReplicaSet" and manifest["spec"].get("replicas") == 0)


def described(manifest: Manifest) -> str:
    """By name, or by its owner's where the name is made up anew each time."""
    kind, metadata = manifest["kind"], manifest["metadata"]
    owners: list[Manifest] = metadata.get("ownerReferences", [])
    if kind == "Pod" and owners and owners[0]["kind"] == "ReplicaSet":
        return f"Pod of {owners[0]['name'].rpartition('-')[0]}"
    if kind not in NAMED_AT_RANDOM:
        return f"{kind} {metadata['name']}"
    return f"{kind} of {', '.join(owner['name'] for owner in owners) or 'nobody'}"
