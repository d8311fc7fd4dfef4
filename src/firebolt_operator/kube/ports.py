"""What the rest of the program may ask of the API server: read through a Reader, write through a Writer.

`KubeClient` (client.py) is both. Leader election asks for `Leases`, which are neither fenced nor queued behind
other calls. Errors are those of `firebolt_operator.errors`; `translate.py` says which answer becomes which.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from firebolt_operator.refs import Manifest, Ref, Resource

Propagation = Literal["Foreground", "Background", "Orphan"]
EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which objects of one resource a list or a watch covers."""

    resource: Resource
    namespace: str = ""  # empty means all namespaces
    labels: str = ""  # a label selector as the API server writes it
    fields: str = ""  # a field selector

    def __str__(self) -> str:
        place = f" in {self.namespace}" if self.namespace else ""
        chosen = ",".join(part for part in (self.labels, self.fields) if part)
        return f"{self.resource.plural}{place}" + (f" ({chosen})" if chosen else "")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list; every item is still JSON text, so that each reader decodes only what it needs.

    Items of built-in kinds carry neither apiVersion nor kind: the API server leaves both out inside a list. Of an item
    that cannot be decoded there is the outline only (a SetAside).
    """

    items: list[bytes]
    resource_version: str  # the same on every page of one list: where a watch may start


@dataclass(frozen=True, slots=True)
class WatchEvent:
    type: EventType
    body: bytes  # the object as JSON text, or a SetAside; of a bookmark only metadata.resourceVersion counts


class Reader(Protocol):
    """Reads raise TransientError, ForbiddenError or ExpiredError; what does not exist is None or an empty list."""

    async def get(self, ref: Ref, /) -> Manifest | None: ...
    async def get_raw(self, ref: Ref, /) -> bytes | None:
        """A SetAside if the object cannot be decoded; `get` raises UnreadableError then."""
        ...

    async def list(self, scope: Scope, /) -> list[Manifest]:
        """Without those that cannot be decoded: not for those who decide from what is missing."""
        ...

    def pages(self, scope: Scope, /, *, limit: int = 500) -> AsyncGenerator[Page]:
        """A list in pages; ExpiredError between two of them means that the list must start over."""
        ...

    def watch(self, scope: Scope, /, *, resource_version: str) -> AsyncGenerator[WatchEvent]:
        """One watch request, bookmarks included; it ends within ten minutes: watch again from the last version.

        Wrap it in `contextlib.aclosing`: a generator left half-read holds its connection.
        """
        ...

    async def pod_proxy_get(self, pod: Ref, port: int, path: str, /, *, timeout: float = 10.0) -> bytes:  # noqa: ASYNC109
        """The body of a 200 answer, at most 1 MiB, within this many seconds; anything else is a TransientError."""
        ...

    async def resources(self, api_version: str, /) -> tuple[Resource, ...]:
        """What one group and version offers right now (discovery); empty if the server does not know it."""
        ...


class Writer(Protocol):
    """Every method returns the object as the server stored it, passes the fence, and tells the write observers.

    UnreadableError means that the write happened, and that what is stored now cannot be decoded.
    """

    async def apply(self, manifest: Manifest, /) -> Manifest: ...
    async def create(self, manifest: Manifest, /) -> Manifest: ...
    async def merge_patch(self, ref: Ref, patch: Mapping[str, Any], /, *, subresource: str = "") -> Manifest: ...
    async def update_status(self, manifest: Manifest, /) -> Manifest: ...
    async def replace(self, manifest: Manifest, /) -> Manifest: ...
    async def delete(
        self,
        ref: Ref,
        /,
        *,
        uid: str,
        resource_version: str = "",
        propagation: Propagation | None = None,
        grace_seconds: int | None = None,
    ) -> None:
        """Deleting what is gone already, or was replaced by another object of that name, succeeds.

        Without `grace_seconds` the object's own grace counts; a second delete can only shorten it.
        """
        ...


class Leases(Protocol):
    """The Lease that leadership hangs on: not fenced (it makes the fence), not observed, not queued, never repeated."""

    async def get(self, ref: Ref, /, *, timeout_seconds: float) -> Manifest | None: ...
    async def create(self, manifest: Manifest, /, *, timeout_seconds: float) -> Manifest: ...
    async def update(self, manifest: Manifest, /, *, timeout_seconds: float) -> Manifest:
        """Raises ConflictError if someone else wrote since metadata.resourceVersion."""
        ...


class Fence(Protocol):
    """Says whether this process may still write: a pass that outlives its lease writes nothing more."""

    def remaining(self) -> float:
        """Seconds during which a write may still be under way; raises FencedError once there are none."""
        ...


class WriteObserver(Protocol):
    """Told of every answered and unanswered write, so that caches read their own writes (design D10)."""

    def written(self, ref: Ref, body: bytes, /) -> None: ...
    def deleted(self, ref: Ref, uid: str, /) -> None: ...
    def unanswered(self, ref: Ref, /) -> None:
        """What the server holds under this name is unknown until it is read live."""
        ...


class RequestRecorder(Protocol):
    """Told of every request, for metrics."""

    def request(self, method: str, code: str, seconds: float, resource: str, verb: str, /) -> None:
        """The code is the HTTP status, or `error` if there was no answer; the resource is a plural.

        The verb is that of RBAC: a list and a watch are told apart from a get.
        """
        ...
