"""One object that engines share, one pass: tells who depends on it, and guards its deletion. Owns no objects."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

import msgspec

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.errors import UnreadableError
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.look_again import After, AtOnce
from firebolt_operator.manifests.references import ref_to
from firebolt_operator.policy.guards import Guard
from firebolt_operator.reconciling.bound_engines import fetch_bound_engines
from firebolt_operator.reconciling.finalizers import add_finalizer, remove_finalizer
from firebolt_operator.reconciling.reads import known_or_live
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.objects import Key

REST = After(timedelta(seconds=30))


class Guarded(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


K = TypeVar("K", bound=Guarded)
Told_contra = TypeVar("Told_contra", bound=Guarded, contravariant=True)


class Teller(Protocol[Told_contra]):
    """Keeps the status of one kind."""

    def where(self, guarded: Told_contra, /) -> tuple[str, str]:
        """In which index of engines, under which term, those that depend on it are found."""
        ...

    async def tell(self, guarded: Told_contra, bound_engines: int, /) -> None: ...


class _Outline(msgspec.Struct, frozen=True):
    metadata: ObjectMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedReconciler(Generic[K]):
    guard: Guard
    objects: Cache[K]
    engines: Cache[FireboltEngine]
    reader: Reader
    writer: Writer
    clock: Clock
    teller: Teller[K] | None = None  # None: the kind has no status
    request_time: timedelta = timedelta(0)
    """How long a request may be under way that still found the object alive: an engine that needs it may come of it."""
    _deleting_since: dict[str, float] = field(default_factory=dict[str, float], init=False)  # by uid, as seen here

    async def reconcile(self, key: Key) -> Outcome:
        ref = Ref(self.guard.resource, *key)
        try:
            found = await known_or_live(self.objects, self.reader, ref)
        except UnreadableError:
            return await self._unreadable(ref)
        if found is None:
            return Outcome("gone")
        metadata = found.metadata
        has_finalizer = self.guard.finalizer in metadata.finalizers
        if metadata.is_deleting:
            return await self._guard_deletion(metadata, found) if has_finalizer else Outcome("waiting for others")
        if not has_finalizer:
            await add_finalizer(ref, metadata, self.guard.finalizer, self.writer)
            return Outcome("finalizer added", AtOnce())
        if self.teller is not None:
            await self.teller.tell(found, await self._engines_to_tell_of(found, self.teller))
        return Outcome("judged", REST, is_settled=True)

    async def _unreadable(self, ref: Ref) -> Outcome:
        """Its engines are told; nothing is judged or written, but it must be possible to delete it."""
        body = await self.reader.get_raw(ref)
        if body is None:
            return Outcome("gone")
        metadata = msgspec.json.decode(body, type=_Outline).metadata
        if not metadata.is_deleting or self.guard.finalizer not in metadata.finalizers:
            return Outcome("set aside: it cannot be decoded")
        return await self._guard_deletion(metadata, None)

    async def _engines_to_tell_of(self, found: K, teller: Teller[K]) -> int:
        """As the guard counts them: what the cache could not read may depend on it all the same."""
        if self.engines.set_aside(found.metadata.namespace):
            return await self._bound_engines(found.metadata)
        return len(self.guard.bound(self._ref(found.metadata), self.engines.by_index(*teller.where(found))))

    async def _guard_deletion(self, metadata: ObjectMeta, found: K | None) -> Outcome:
        """Live: a watch selector may hide an engine from the cache, and a released finalizer is gone."""
        under_way = self._requests_under_way(metadata.uid)
        bound = await self._bound_engines(metadata)
        if bound:
            if found is not None and self.teller is not None:
                await self.teller.tell(found, bound)
            return Outcome(f"deletion waits for {bound} engine(s)", REST)
        if under_way > timedelta(0):
            return Outcome("deletion waits for requests that found it alive", After(under_way))
        await remove_finalizer(self._ref(metadata), metadata, self.guard.finalizer, self.writer)
        self._deleting_since.pop(metadata.uid, None)
        return Outcome("released")

    def _requests_under_way(self, uid: str) -> timedelta:
        """For how long yet. By our own clock, from when we saw the deletion: the server's may differ."""
        now = self.clock.monotonic()
        since = self._deleting_since.setdefault(uid, now)
        return self.request_time - timedelta(seconds=now - since)

    async def _bound_engines(self, metadata: ObjectMeta) -> int:
        return await fetch_bound_engines(self.guard, self._ref(metadata), self.reader)

    def _ref(self, metadata: ObjectMeta) -> Ref:
        return ref_to(self.guard.resource, metadata)
