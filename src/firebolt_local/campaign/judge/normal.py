"""What is left of a namespace once everything is taken away that no two runs have in common?

Times, addresses, uids and hashes become words; a reference to an owner becomes its name, or tells that it is gone. Of
objects that Kubernetes itself makes only that is kept which says whether they do their work.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from firebolt_local.cluster.kube_http import has_condition
from firebolt_local.testing.inventory import EVERY_NAMESPACE_HAS, described, is_history
from firebolt_local.testing.ledger import World
from firebolt_operator.refs import Manifest

Picture = Mapping[str, Any]
"""What is there, by what it is called."""
_WORDS: Final = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"\b\d{1,3}(\.\d{1,3}){3}\b"), "<address>"),
    (re.compile(r"\b[0-9a-f]{16,}\b"), "<hash>"),
)
_METADATA: Final = ("name", "labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp")
_HASH_LABELS: Final = frozenset({"pod-template-hash", "controller-revision-hash", "controller.kubernetes.io/hash"})
_COUNTS: Final = ("replicas", "readyReplicas", "updatedReplicas")


@dataclass(frozen=True, slots=True)
class Lens:
    """How closely one looks."""

    namespace: str
    without_generations: bool = False  # an edited engine and a new one have come through different numbers of them


def picture(world: World, lens: Lens) -> Picture:
    owners = {each["metadata"]["uid"]: described(each) for each in world.values()}
    found: dict[str, Any] = {}
    repeated: Counter[str] = Counter()
    for each in sorted(world.values(), key=lambda manifest: str(manifest["metadata"]["name"])):
        name = _plain(described(each), lens)
        if name in EVERY_NAMESPACE_HAS or is_history(each):
            continue
        repeated[name] += 1
        key = name if repeated[name] == 1 else f"{name} ({repeated[name]})"
        found[key] = _plain_deep(_reduced(each, owners), lens)
    return found


def _reduced(manifest: Manifest, owners: Mapping[str, str]) -> Manifest:
    reduce = _REDUCED.get(manifest["kind"], _whole)
    return {"metadata": _metadata(manifest, owners), **reduce(manifest)}


def _metadata(manifest: Manifest, owners: Mapping[str, str]) -> Manifest:
    found: Manifest = {name: manifest["metadata"][name] for name in _METADATA if name in manifest["metadata"]}
    if "name" in found and described(manifest) != f"{manifest['kind']} {found['name']}":
        del found["name"]  # made up anew each time
    if "labels" in found:
        found["labels"] = {name: value for name, value in found["labels"].items() if name not in _HASH_LABELS}
    if manifest["kind"] == "EndpointSlice":
        found.pop("annotations", None)  # when it last changed, sometimes
    if "ownerReferences" in found:
        found["ownerReferences"] = [
            {**each, "uid": f"of {owners.get(each['uid'], 'nobody')}", "name": ""} for each in found["ownerReferences"]
        ]
    return found


def _whole(manifest: Manifest) -> Manifest:
    return {name: value for name, value in manifest.items() if name not in {"metadata", "kind", "apiVersion"}}


def _ours(manifest: Manifest) -> Manifest:
    """Its edits are counted alike in every run."""
    return {**_whole(manifest), "edits": manifest["metadata"].get("generation")}


def _engine(manifest: Manifest) -> Manifest:
    """When auto-stop scaled it is told by whoever did; one who dies in between tells nobody. Nobody decides by it."""
    found = _ours(manifest)
    status = {name: value for name, value in found.get("status", {}).items() if name != "lastScaledAt"}
    return {**found, "status": status}


def _workload(manifest: Manifest) -> Manifest:
    status = manifest.get("status", {})
    return {"spec": manifest["spec"], "status": {name: status.get(name, 0) for name in _COUNTS}}


def _pod(manifest: Manifest) -> Manifest:
    images = {each["name"]: each["image"] for each in manifest["spec"]["containers"]}
    status = {"phase": manifest.get("status", {}).get("phase"), "is ready": has_condition(manifest, "Ready")}
    return {"images": images, "status": status}


def _endpoint_slice(manifest: Manifest) -> Manifest:
    endpoints: list[Manifest] = manifest.get("endpoints") or []
    ready = sum(bool(each.get("conditions", {}).get("ready")) for each in endpoints)
    return {"ports": manifest.get("ports"), "ready": ready, "endpoints": len(endpoints)}


def _secret(manifest: Manifest) -> Manifest:
    """What is in it is nobody's business, and minted anew for each instance."""
    return {"type": manifest.get("type"), "keys": sorted(manifest.get("data") or {})}


def _claim(manifest: Manifest) -> Manifest:
    spec = {name: value for name, value in manifest["spec"].items() if name != "volumeName"}
    return {"spec": spec, "phase": manifest.get("status", {}).get("phase")}


def _service(manifest: Manifest) -> Manifest:
    return {"spec": {name: value for name, value in manifest["spec"].items() if name != "healthCheckNodePort"}}


def _budget(manifest: Manifest) -> Manifest:
    return {"spec": manifest["spec"]}


def _presence(_: Manifest) -> Manifest:
    return {}


_REDUCED: Final[Mapping[str, Callable[[Manifest], Manifest]]] = {
    "FireboltEngine": _engine,
    "FireboltEngineClass": _ours,
    "FireboltEnginePreset": _ours,
    "FireboltInstance": _ours,
    "StatefulSet": _workload,
    "Deployment": _workload,
    "ReplicaSet": _presence,
    "ControllerRevision": _presence,
    "Pod": _pod,
    "EndpointSlice": _endpoint_slice,
    "Secret": _secret,
    "PersistentVolumeClaim": _claim,
    "Service": _service,
    "PodDisruptionBudget": _budget,
}


def _plain_deep(value: Any, lens: Lens) -> Any:
    match value:
        case dict():
            return {_plain(str(name), lens): _plain_field(str(name), inner, lens) for name, inner in value.items()}
        case list():
            return [_plain_deep(each, lens) for each in value]
        case str():
            return _plain(value, lens)
        case _:
            return value


def _plain_field(name: str, value: Any, lens: Lens) -> Any:
    if name == "conditions" and isinstance(value, list):
        # In which order they were first told is of no account.
        return _plain_deep({each["type"]: each for each in value}, lens)
    if lens.without_generations and name in _GENERATION_FIELDS:
        return "<generation>" if value not in {None, -1} else value
    if lens.without_generations and name in _OF_THE_PAST:
        return "<past>"
    return _plain_deep(value, lens)


_GENERATION_FIELDS: Final = frozenset(
    {"currentGeneration", "activeGeneration", "firebolt.io/generation", "edits", "observedGeneration"}
)
_OF_THE_PAST: Final = frozenset({"autoStopReason"})
"""What auto-stop last did depends on how long it has looked."""
_GENERATION: Final = re.compile(r"-g\d+\b")
_IN_WORDS: Final = re.compile(r"\bgeneration \d+|firebolt\.io/generation=\d+")


def _plain(text: str, lens: Lens) -> str:
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    text = text.replace(lens.namespace, "<namespace>")
    if lens.without_generations:
        text = _IN_WORDS.sub("generation <n>", _GENERATION.sub("-g<n>", text))
    return text
