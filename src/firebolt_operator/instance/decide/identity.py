"""May the id of an instance be rewritten in lower case? Only once every image that reads it takes it like that."""

from dataclasses import dataclass
from typing import Final

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.instance_id import canonical_id, is_ulid
from firebolt_operator.api.names import InstancePhase, InstanceReason
from firebolt_operator.instance.decide.failures import changed_id
from firebolt_operator.manifests.releases import FLOOR, Age, age
from firebolt_operator.reconciling.verdicts import Verdict

CANONICAL: Final = Verdict("True", InstanceReason.CANONICAL, "spec.id is a lowercase Crockford ULID")
FREE_FORM: Final = Verdict("True", InstanceReason.CANONICAL, "spec.id is not a Crockford ULID; nothing to canonicalize")


@dataclass(frozen=True, slots=True)
class Subject:
    """Whoever reads the id."""

    name: str  # `metadata`, or `engine "NAME"`
    image: str


def is_looked_at(instance: FireboltInstance) -> bool:
    """Of an instance that waits for a person nothing is written, least of all its id."""
    return InstancePhase(instance.status.phase) is not InstancePhase.FAILED and changed_id(instance) is None


def canonical_verdict(instance_id: str) -> Verdict | None:
    """None for an id that has to be rewritten."""
    if not is_ulid(instance_id):
        return FREE_FORM
    return CANONICAL if instance_id == canonical_id(instance_id) else None


def obstacle(subject: Subject) -> Verdict | None:
    found = age(subject.image)
    if found is Age.NEW:
        return None
    why = (
        f'is pinned by digest, so its version cannot be compared against the canonicalize floor "{FLOOR}" — repin it by'
        " tag at or above the floor (or unset the pin) before the id is lowercased"
        if found is Age.UNTOLD
        else f'is older than the canonicalize floor "{FLOOR}" — bump metadata and every bound engine image to that tag'
        " (or unset the pins) before the id is lowercased"
    )
    message = f'spec.id is an uppercase Crockford ULID; {subject.name} image "{subject.image}" {why}'
    return Verdict("False", InstanceReason.IMAGE_BELOW_FLOOR, message)


def unresolved(problem: str) -> Verdict:
    return Verdict("False", InstanceReason.IMAGE_RESOLVE_FAILED, problem)


def refused(wanted: str, error: str) -> Verdict:
    message = f'spec.id could not be canonicalized to "{wanted}": {error}'
    return Verdict("False", InstanceReason.UPDATE_REJECTED, message)
