"""Which object is this, and which version of it? All that ordering needs, and nothing of its content."""

from typing import Any, Final, cast

import msgspec

from firebolt_operator.kube.set_aside import is_readable, outline

MOST_LABELS: Final = 64  # that are remembered of an object that was set aside
MOST_OWNERS: Final = 64
LONGEST_NAME: Final = 253

Key = tuple[str, str]
"""Namespace (empty for cluster-scoped kinds) and name."""


class Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    resource_version: int  # sent as text; a number that grows with every change since Kubernetes 1.35
    name: str = ""  # a bookmark has none
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None


class Header(msgspec.Struct, frozen=True, gc=False):
    """An object's metadata. The items of a list carry no kind."""

    metadata: Metadata
    kind: str = ""

    @property
    def key(self) -> Key:
        return (self.metadata.namespace, self.metadata.name)

    @property
    def version(self) -> int:
        return self.metadata.resource_version


class Aside(msgspec.Struct, frozen=True):
    """An object that is there and cannot be decoded."""

    header: Header
    owners: frozenset[str]  # uids

    @property
    def labels(self) -> dict[str, str]:
        return self.header.metadata.labels or {}


class _Owner(msgspec.Struct, frozen=True):
    uid: str


class _OwnedMetadata(msgspec.Struct, frozen=True, rename="camel"):
    owner_references: list[_Owner] = []


class _Owned(msgspec.Struct, frozen=True):
    metadata: _OwnedMetadata


_owned = msgspec.json.Decoder(_Owned)
_decoder = msgspec.json.Decoder(Header, strict=False)


def header_of(body: bytes) -> Header:
    """Raises ValueError for anything that is not an object of a Kubernetes API."""
    try:
        return _decoder.decode(body)
    except RecursionError:
        # At the door it was just not too deep; here, a few calls further down, it is.
        return _decoder.decode(outline(body))


def aside_of(header: Header, body: bytes) -> Aside:
    """Slow: only for what was set aside."""
    try:
        owned = _owned.decode(body if is_readable(body) else outline(body))
    except (ValueError, RecursionError):
        return Aside(_kept(header), frozenset())
    owners = owned.metadata.owner_references[:MOST_OWNERS]
    return Aside(_kept(header), frozenset(owner.uid[:LONGEST_NAME] for owner in owners))


def _kept(header: Header) -> Header:
    """Neither labels nor owners are limited in number. Labels with a domain are the ones that programs look for."""
    labels = header.metadata.labels or {}
    if len(labels) <= MOST_LABELS:
        return header
    chosen = sorted(labels, key=lambda name: "/" not in name)[:MOST_LABELS]
    metadata = msgspec.structs.replace(header.metadata, labels={name: labels[name] for name in chosen})
    return msgspec.structs.replace(header, metadata=metadata)


def manifest_of(body: bytes) -> dict[str, Any]:
    """The whole object, for caches that keep manifests rather than projections."""
    return cast("dict[str, Any]", msgspec.json.decode(body))
