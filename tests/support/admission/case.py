"""One object, and what becomes of it: with webhooks the API server says it, without them a condition does.

Every case carries both answers, and every suite takes all cases: none can be told in one way only.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from firebolt_operator.api.names import GROUP, PRESET_NAME, VERSION
from firebolt_operator.refs import Manifest

Kind = Literal[
    "FireboltEngine", "FireboltEngineClass", "FireboltEnginePreset", "ClusterFireboltEngineClass", "FireboltInstance"
]
BOUNDS: Final = {"cpu": "32", "memory": "256Gi"}
"""What the administrator allows wherever cases are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A controller refuses, or at least tells."""

    type: str
    reason: str
    status: str = "False"
    names: tuple[str, ...] | None = None  # of the refusals; None: all of them


@dataclass(frozen=True, slots=True)
class Dropped:
    """What is refused at the door is left out of the pod, and an event says so."""


@dataclass(frozen=True, slots=True)
class Goes:
    """The object is used as if nothing were wrong, and why that is right."""

    why: str


Without = Condition | Dropped | Goes


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    id: str
    kind: Kind
    spec: Manifest
    before: Manifest | None = None  # an edit of this spec; None: a creation
    preset: Manifest | None = None  # the spec of the namespace's preset meanwhile
    status: Manifest = field(default_factory=dict[str, Any])  # of the object before the edit
    refused: tuple[str, ...] = ()  # path and kind of every error, in order
    says: tuple[str, ...] = ()  # more words of the refusal
    schema: str = ""  # the API server refuses it by itself, in these words
    warns: tuple[str, ...] = ()
    is_heavy: bool = False  # an API server takes seconds for it
    without: Without | None = None  # webhooks

    def __post_init__(self) -> None:
        if bool(self.refused) != (self.without is not None):
            raise ValueError(f"{self.id}: what is refused needs both answers, what is accepted has only one")
        if self.schema and self.refused:
            raise ValueError(f"{self.id}: what the schema refuses reaches nobody else")

    @property
    def is_accepted(self) -> bool:
        return not self.refused and not self.schema

    @property
    def told(self) -> tuple[str, ...]:
        """What the condition has to say."""
        if not isinstance(self.without, Condition):
            return ()
        return self.refused if self.without.names is None else self.without.names

    def name(self, wanted: str) -> str:
        """Where one is prescribed, that."""
        return PRESET_NAME if self.kind == "FireboltEnginePreset" else wanted

    def manifest(self, name: str, namespace: str, spec: Manifest | None = None) -> Manifest:
        return an_object(self.kind, self.name(name), namespace, self.spec if spec is None else spec)


def an_object(kind: str, name: str, namespace: str, spec: Manifest) -> Manifest:
    metadata = {"name": name} if kind.startswith("Cluster") else {"name": name, "namespace": namespace}
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": metadata, "spec": spec}


def forbidden(*paths: str) -> tuple[str, ...]:
    return tuple(f"{path}: Forbidden" for path in paths)


def invalid(*paths: str) -> tuple[str, ...]:
    return tuple(f"{path}: Invalid value" for path in paths)


def required(*paths: str) -> tuple[str, ...]:
    return tuple(f"{path}: Required value" for path in paths)


def duplicate(*paths: str) -> tuple[str, ...]:
    return tuple(f"{path}: Duplicate value" for path in paths)


_KINDS: Final = re.compile(": (Forbidden|Required value|Invalid value|Duplicate value|Not found|Internal error)\\b")


def count_errors(message: str) -> int:
    return len(_KINDS.findall(message))


def in_order(message: str, wanted: tuple[str, ...]) -> bool:
    """Whether all of them are there, one after the other."""
    place = 0
    for each in wanted:
        place = message.find(each, place)
        if place < 0:
            return False
        place += len(each)
    return True
