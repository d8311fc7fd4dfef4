"""Which troubles can no pass cure, and how does an instance get out of them? Only a person clears `Failed`."""

from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.instance_id import is_same_id
from firebolt_operator.api.names import InstanceReason

HOW_TO_CLEAR = f"then annotate the FireboltInstance with {names.ANNOTATION_CLEAR_FAILED}=true"


@dataclass(frozen=True, slots=True)
class PermanentFailure:
    """What is wrong, and what a person must do."""

    reason: InstanceReason
    message: str


def changed_id(instance: FireboltInstance) -> PermanentFailure | None:
    """Engines wrote under the published id: going on under another would show them an empty account."""
    published, wanted = instance.status.instance_id, instance.spec.id
    if not published or is_same_id(published, wanted):
        return None
    return PermanentFailure(
        InstanceReason.INSTANCE_ID_CHANGED,
        f'spec.id is "{wanted}", but engines know this instance as "{published}"; remove spec.id to have the published'
        f" id put back, or keep the new one; {HOW_TO_CLEAR}",
    )


def other_database(instance: FireboltInstance, recorded: str) -> PermanentFailure:
    """Engines would find an empty account beside what their database holds."""
    name, namespace = instance.metadata.name, instance.metadata.namespace
    secret = names.metadata_credentials_name(name)
    return PermanentFailure(
        InstanceReason.INSTANCE_ID_CHANGED,
        f'spec.id is "{instance.spec.id}", but the database that was kept in PersistentVolumeClaim'
        f' {namespace}/{names.postgres_claim_name(name)} was written under "{recorded}"; remove spec.id to take over'
        f" the id of the database, or keep the new one: annotate Secret {secret} with"
        f" {names.ANNOTATION_INSTANCE_ID}={instance.spec.id}; {HOW_TO_CLEAR}",
    )


def lost_credentials(instance: FireboltInstance) -> PermanentFailure:
    """The database keeps the password it was initialised with: a new one would lock the metadata service out."""
    name, namespace = instance.metadata.name, instance.metadata.namespace
    return PermanentFailure(
        InstanceReason.POSTGRES_CREDENTIALS_LOST,
        f"Secret {namespace}/{names.metadata_credentials_name(name)} is gone, but the database's volume"
        f" {namespace}/{names.postgres_claim_name(name)} exists and opens to the lost password only; restore the"
        f" Secret, or start with an empty database: delete StatefulSet {names.postgres_name(name)} (it would make the"
        f" volume anew), then the PersistentVolumeClaim; {HOW_TO_CLEAR}",
    )


def asks_to_clear(instance: FireboltInstance) -> bool:
    return instance.metadata.annotations.get(names.ANNOTATION_CLEAR_FAILED) == "true"
