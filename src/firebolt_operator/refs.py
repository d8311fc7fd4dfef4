"""The vocabulary everyone shares: a manifest, a kind, an object by name, an event. Imports nothing of ours."""

from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]
"""A Kubernetes object as plain JSON: the one sanctioned Any (design D2)."""


@dataclass(frozen=True, slots=True, order=True)
class Resource:
    """One kind as the API server addresses it."""

    group: str  # empty for the core group
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """One object by name."""

    resource: Resource
    namespace: str  # empty for cluster-scoped kinds
    name: str

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.resource.kind} {place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Warn:
    """Something that a person should know about an object."""

    reason: str
    action: str  # what we were doing
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Something that went as it should, and that people want to read: told once, when it has happened."""

    reason: str
    action: str
    note: str
