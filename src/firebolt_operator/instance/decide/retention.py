"""What becomes of the internal database when its instance goes? It is said on the Secret that opens it, in good time.

An owner reference lets Kubernetes delete the Secret with the instance: in a foreground deletion even before anybody
asks us. So the credentials of a database that is kept have no owner while their instance lives.
"""

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.instance_id import is_same_id
from firebolt_operator.api.labels import component_labels
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.instance.facts import Volume
from firebolt_operator.manifests.components import owner_of
from firebolt_operator.refs import Manifest


def recorded_id(credentials: ObjectMeta) -> str:
    """Of the instance that wrote into the database; empty if nobody said."""
    return credentials.annotations.get(names.ANNOTATION_INSTANCE_ID, "")


def kept_id(credentials: ObjectMeta | None, volume: Volume) -> str:
    """The id for an instance that has none: that of the database it will find.

    Without the volume there is no such database, and whoever wrote the Secret does not get to choose.
    """
    if credentials is None or volume is not Volume.PRESENT or credentials.owner_references:
        return ""
    return recorded_id(credentials)


def credentials_change(instance: FireboltInstance, found: ObjectMeta) -> Manifest | None:
    """As a merge patch; None if the Secret says all that it should, or is somebody else's."""
    if any(owner.uid != instance.metadata.uid for owner in found.owner_references):
        return None
    wanted = _kept(instance, found) if instance.spec.metadata.postgres_storage.is_kept else _given_back(instance, found)
    # Only while it is the one that was decided on: a list in a merge patch replaces what is there.
    decided_on = {"uid": found.uid, "resourceVersion": found.resource_version}
    return None if wanted is None else {"metadata": {**wanted, **decided_on}}


def is_left_of(instance: FireboltInstance, found: ObjectMeta) -> bool:
    """Credentials that were to be kept, and lost their owner for it."""
    return (
        found.name == names.metadata_credentials_name(instance.metadata.name)
        and not found.owner_references
        and _has_our_labels(instance, found)
        and is_same_id(recorded_id(found), _id(instance))
    )


def _kept(instance: FireboltInstance, found: ObjectMeta) -> Manifest | None:
    # Of an instance that cannot be decoded the id may be unknown: what was recorded stays.
    known_id = _id(instance) or recorded_id(found)
    if not found.owner_references and recorded_id(found) == known_id:
        return None
    return {"annotations": {names.ANNOTATION_INSTANCE_ID: known_id or None}, "ownerReferences": None}


def _given_back(instance: FireboltInstance, found: ObjectMeta) -> Manifest | None:
    """A Secret that a person made has neither our labels nor, ever, an owner."""
    if not recorded_id(found) or not _has_our_labels(instance, found):
        return None
    return {
        "annotations": {names.ANNOTATION_INSTANCE_ID: None},
        "ownerReferences": [owner_of(instance).reference()],
    }


def _has_our_labels(instance: FireboltInstance, found: ObjectMeta) -> bool:
    return component_labels(instance.metadata.name, names.COMPONENT_POSTGRES).items() <= found.labels.items()


def _id(instance: FireboltInstance) -> str:
    return instance.status.instance_id or instance.spec.id
