"""What every model of our kinds is made of: a frozen struct, and notes on its fields that become the CRD schema."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import Meta

from firebolt_operator.api.texts import MOST_CHARACTERS
from firebolt_operator.refs import Manifest


class Model(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Attributes are snake_case here and camelCase on the wire; what is absent on the wire is None or empty here."""


class StatusModel(Model, frozen=True, kw_only=True):
    """A status; what is in `always_shown` is written even if it is zero or false, for a column of `kubectl get`."""

    always_shown: ClassVar[tuple[str, ...]] = ()


def note(description: str, **schema: Any) -> Meta:
    """A field's description and whatever else its schema says (default, enum, x-kubernetes-*, ...)."""
    return Meta(description=description, extra_json_schema=schema or None)


def rule(expression: str, message: str) -> dict[str, str]:
    """One CEL validation rule."""
    return {"rule": expression, "message": message}


QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
QUANTITY_SCHEMA: Final[Manifest] = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "maxLength": MOST_CHARACTERS,
    "pattern": QUANTITY_PATTERN,
    "x-kubernetes-int-or-string": True,
}

PodTemplate = Annotated[Manifest, Meta(extra={"schema": "pod-template"})]
"""A fragment of a pod template; handled as JSON so that fields we do not know pass through (ADR 0003)."""

FreeForm = Annotated[Manifest, Meta(extra={"schema": "free-form"})]
"""An object whose content is not ours to validate."""

Quantity = Annotated[int | str, Meta(extra={"schema": "quantity"})]
IntOrString = Annotated[int | str, Meta(extra={"schema": "int-or-string"})]
"""A number, or a share of a whole in percent. Like a duration, a malformed one passes the schema."""
Int32 = Annotated[int, Meta(extra={"schema": "int32"})]
Int64 = Annotated[int, Meta(extra={"schema": "int64"})]
Instant = Annotated[datetime, Meta(tz=True)]
"""With a zone: nothing can be compared with a time that could be any."""
Duration = Annotated[str, Meta(extra={"schema": "duration"})]
"""Kept as text: a malformed value passes the schema and must only break its own object's pass."""
EngineDuration = Annotated[str, Meta(extra={"schema": "engine-duration"})]
"""As engines write durations, and handed on to them; an empty one is one that nobody wrote."""


class OwnerReference(Model, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Model, frozen=True, kw_only=True):
    """The part of metadata that decisions read."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: list[str] = []
    owner_references: list[OwnerReference] = []

    @property
    def is_deleting(self) -> bool:
        return self.deletion_timestamp is not None

    @property
    def controller(self) -> OwnerReference | None:
        return next((owner for owner in self.owner_references if owner.controller), None)


class LocalRef(Model, frozen=True, kw_only=True):
    """Names an object in the same namespace."""

    name: Annotated[str, note("Name of the object.", default="")] = ""
