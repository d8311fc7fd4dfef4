"""What do caches keep of the metadata of an object that others may write?

Labels, owners and finalizers are not limited in number, and anybody may label anything like ours: a ConfigMap of labels
alone takes eight times its size once it is decoded. So only what decisions read is kept, and of that not too much.
"""

import sys
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
        namespace=sys.intern(metadata.namespace),
        labels={name: sys.intern(metadata.labels[name]) for name in LABELS if name in metadata.labels},
        finalizers=[name[:LONGEST_NAME] for name in metadata.finalizers[:MOST_FINALIZERS]],
        owner_references=_kept_owners(metadata.owner_references),
    )


def _kept_owners(owners: list[OwnerReference]) -> list[OwnerReference]:
    """The controller among them: whose the object is must not depend on how many others claim it."""
    if len(owners) > MOST_OWNERS:
        owners = sorted(owners, key=lambda owner: not owner.controller)[:MOST_OWNERS]
    return [_cut(owner) for owner in owners]


def _cut(owner: OwnerReference) -> OwnerReference:
    """The children of an engine all name the same owner: one text is enough for them."""
    return msgspec.structs.replace(
        owner,
        api_version=sys.intern(owner.api_version[:LONGEST_NAME]),
        kind=sys.intern(owner.kind[:LONGEST_NAME]),
        name=sys.intern(owner.name[:LONGEST_NAME]),
        uid=sys.intern(owner.uid[:LONGEST_NAME]),
    )
