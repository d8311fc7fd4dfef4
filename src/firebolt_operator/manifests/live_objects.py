"""What is kept of an object that we applied: enough to tell whether an apply would change it, and whose it is."""

from typing import Any, Final

import msgspec

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.names import LABEL_INSTANCE
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.manifests.kept_metadata import kept_metadata
from firebolt_operator.manifests.managed_fields import applied_fields
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.refs import Manifest

COMPARED: Final = ("metadata", "spec", "data", "rules", "roleRef", "subjects")
KEPT_METADATA: Final = ("name", "namespace", "labels", "annotations", "ownerReferences")


class LiveObject(msgspec.Struct, frozen=True, kw_only=True):
    """A workload, Service, ConfigMap, budget, account or Certificate as it is stored, without its bookkeeping."""

    metadata: ObjectMeta
    content: dict[str, Any]  # what a rendered manifest is compared with; empty of what is not ours
    owned: dict[str, Any]  # the fields that the server knows us to have applied; empty means none
    ready_replicas: int = 0
    is_rolled_out: bool = False  # a Deployment: every pod is of its template and available, and no other is left

    @property
    def instance(self) -> str:
        return self.metadata.labels.get(LABEL_INSTANCE, "")

    def is_owned_by(self, uid: str) -> bool:
        return any(owner.uid == uid for owner in self.metadata.owner_references)


def decode_live(body: bytes) -> LiveObject:
    return live_object(msgspec.json.decode(body))


def live_object(document: Manifest) -> LiveObject:
    metadata: Manifest = document["metadata"]
    kept, owned = kept_metadata(msgspec.convert(metadata, ObjectMeta)), applied_fields(metadata)
    content: Manifest = {}
    if owned or any(owner.kind == FIREBOLT_INSTANCES.kind for owner in kept.owner_references):
        content = {key: document[key] for key in COMPARED if key in document}
        content["metadata"] = {key: metadata[key] for key in KEPT_METADATA if key in metadata}
    else:
        # Of what is nobody's of ours, only that it is there: anybody may label anything like ours.
        kept = msgspec.structs.replace(kept, annotations={})
    return LiveObject(
        metadata=kept,
        content=content,
        owned=owned,
        ready_replicas=mapping(document.get("status")).get("readyReplicas") or 0,
        is_rolled_out=_is_rolled_out(document),
    )


def _is_rolled_out(document: Manifest) -> bool:
    status = mapping(document.get("status"))
    wanted = mapping(document.get("spec")).get("replicas", 1)
    counts = {status.get(key) or 0 for key in ("replicas", "updatedReplicas", "availableReplicas")}
    is_told = (status.get("observedGeneration") or 0) >= (document["metadata"].get("generation") or 1)
    # Pods that are leaving are counted apart, and by newer servers only.
    return is_told and counts == {wanted} and not status.get("terminatingReplicas")


def stranger(uid: str, found: LiveObject) -> str | None:
    """Whose the object is, in words; None: it belongs to the instance of this uid."""
    owners = found.metadata.owner_references
    if found.is_owned_by(uid):
        return None
    if not owners:
        # The server knows that we made it: somebody only took its owner away, and gets it put back.
        return None if found.owned else "has no owner"
    owner = next((each for each in owners if each.controller), owners[0])
    return f"belongs to {owner.kind} {owner.name}"
