"""What was seen of one instance at the start of a pass, as frozen facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from firebolt_operator.instance.views import SecretView
from firebolt_operator.manifests.live_objects import LiveObject
from firebolt_operator.refs import Manifest, Ref


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a component's Deployment has a ready pod; a Deployment that is absent has none."""

    is_ready: bool
    problem: str = ""  # why it could not be told

    @property
    def is_lost(self) -> bool:
        """Surely not ready: what could not be read takes nothing away from anybody."""
        return not self.is_ready and not self.problem


READY = Readiness(is_ready=True)
NOT_READY = Readiness(is_ready=False)


class Volume(Enum):
    """The data volume of the internal database, by its name."""

    ABSENT = "absent"
    DELETING = "deleting"
    PRESENT = "present"
    FOREIGN = "foreign"  # has our name, and was not made for the database of this instance


@dataclass(frozen=True, slots=True)
class SecretMissing:
    """Confirmed by a live read."""

    volume: Volume = Volume.ABSENT


@dataclass(frozen=True, slots=True)
class SecretUnreadable:
    problem: str


CredentialsSeen = SecretView | SecretMissing | SecretUnreadable


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server made of our last apply of an object."""

    applied: Manifest
    stored: LiveObject


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFacts:
    credentials: CredentialsSeen | None  # the Secret in use, internal or external; None: nothing depends on it
    metadata_service: Readiness
    gateway: Readiness
    live: Mapping[Ref, LiveObject] = field(default_factory=dict[Ref, LiveObject])  # the instance's objects by name
    authority: CredentialsSeen | None = None  # the Secret that an external database is verified with, if any
    login_digest: str = ""  # of what the metadata service reads from Secrets of others; changes with their content
    volume: Volume = Volume.ABSENT  # looked for while the internal database has credentials, and no StatefulSet yet
    confirmed: frozenset[Ref] = frozenset()  # names that were read live in this pass: what is not there is absent
    unreadable: Mapping[Ref, str] = field(default_factory=dict[Ref, str])  # and why
    answers: Mapping[Ref, Answer] = field(default_factory=dict[Ref, Answer])  # since this process leads
