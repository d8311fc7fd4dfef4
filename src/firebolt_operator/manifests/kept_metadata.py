"""What do caches keep of the metadata of an object that others may write?

Labels, owners and finalizers are not limited in number, and anybody may label anything like ours: a ConfigMap of labels
alone takes eight times its size once it is decoded. So only what decisions read is kept, and of that not too much.
"""

from typing import Final

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.model import ObjectMeta, OwnerReference

LABELS: Final = (
    names.LABEL_ENGINE,
    names.LABEL_GENERATION,
    names.LABEL_INSTANCE,
    names.LABEL_COMPONENT,
    names.LABEL_POLICY_PARAMETER,
)
MOST_OWNERS: Final = 16
MOST_FINALIZERS: Final = 16
LONGEST_NAME: Final = 253  # characters; no object of ours, nor of a kind that owns ours, has a longer one


def kept_metadata(metadata: ObjectMeta) -> ObjectMeta:
    return msgspec.structs.replace(
        metadata,
        labels={name: metadata.labels[name] for name in LABELS if name in metadata.labels},
        finalizers=[name[:LONGEST_NAME] for name in metadata.finalizers[:MOST_FINALIZERS]],
        owner_references=_kept_owners(metadata.owner_references),
    )


def _kept_owners(owners: list[OwnerReference]) -> list[OwnerReference]:
    """The controller among them: whose the object is must not depend on how many others claim it."""
    if len(owners) > MOST_OWNERS:
        owners = sorted(owners, key=lambda owner: not owner.controller)[:MOST_OWNERS]
    return [_cut(owner) if _is_long(owner) else owner for owner in owners]


def _is_long(owner: OwnerReference) -> bool:
    return max(map(len, (owner.api_version, owner.kind, owner.name, owner.uid))) > LONGEST_NAME


def _cut(owner: OwnerReference) -> OwnerReference:
    return msgspec.structs.replace(
        owner,
        api_version=owner.api_version[:LONGEST_NAME],
        kind=owner.kind[:LONGEST_NAME],
        name=owner.name[:LONGEST_NAME],
        uid=owner.uid[:LONGEST_NAME],
    )
