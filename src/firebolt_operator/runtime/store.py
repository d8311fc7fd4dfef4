"""Which objects are there, which share a property, and who wants to know of a change? Order is the cache's concern."""

import logging
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import msgspec

from firebolt_operator.runtime.indexes import Indexes, IndexFunction
from firebolt_operator.runtime.objects import Header, Key

T = TypeVar("T")
Subscriber = Callable[[T | None, T | None], None]
"""Told (old, new) of every change, at once and in order; None means absent."""

log = logging.getLogger(__name__)


class Entry(msgspec.Struct, Generic[T], frozen=True, gc=False):
    version: int
    uid: str
    value: T | None  # None: the object exists, but could not be understood


class Store(Generic[T]):
    """Values are shared by all readers: nobody changes them."""

    def __init__(
        self, kind: str, decode: Callable[[bytes], T], *, indexes: Mapping[str, IndexFunction[T]] | None = None
    ) -> None:
        self.decode = decode
        self.broken_total = 0
        self._kind = kind
        self._entries: dict[Key, Entry[T]] = {}
        self._indexes: Indexes[T] = Indexes(indexes or {})
        self._broken: set[Key] = set()
        self._subscribers: list[Subscriber[T]] = []

    def __len__(self) -> int:
        return len(self._entries) - len(self._broken)

    def get(self, key: Key) -> T | None:
        entry = self._entries.get(key)
        return None if entry is None else entry.value

    def version(self, key: Key) -> int:
        """The resourceVersion known of an object, 0 if none is."""
        entry = self._entries.get(key)
        return 0 if entry is None else entry.version

    def values(self) -> list[T]:
        return [value for key in sorted(self._entries) if (value := self.get(key)) is not None]

    def by_index(self, name: str, term: str) -> list[T]:
        return [value for key in self._indexes.keys(name, term) if (value := self.get(key)) is not None]

    @property
    def broken(self) -> frozenset[Key]:
        """Objects that exist and could not be understood; they count as absent."""
        return frozenset(self._broken)

    def subscribe(self, subscriber: Subscriber[T]) -> None:
        self._subscribers.append(subscriber)

    def _take(self, header: Header, body: bytes) -> None:
        key = header.key
        old = self.get(key)
        try:
            new = self.decode(body)
            terms = self._indexes.terms(new)
        except Exception as err:  # noqa: BLE001 - one broken object must only hurt itself, whatever a projection raises
            self._mark_broken(key, err)
            new, terms = None, []
        else:
            self._broken.discard(key)
        if old is not None:
            self._indexes.discard(key, self._indexes.terms(old))
        self._entries[key] = Entry(header.version, header.metadata.uid, new)
        self._indexes.add(key, terms)
        self._tell(old, new)

    def _drop(self, key: Key) -> None:
        self._broken.discard(key)
        old = self._entries.pop(key).value
        if old is not None:
            self._indexes.discard(key, self._indexes.terms(old))
        self._tell(old, None)

    def _mark_broken(self, key: Key, err: Exception) -> None:
        self.broken_total += 1
        if key not in self._broken:
            log.error("object not understood", extra={"kind": self._kind, "key": "/".join(key), "error": err})
        self._broken.add(key)

    def _tell(self, old: T | None, new: T | None) -> None:
        if old is None and new is None:
            return
        for subscriber in self._subscribers:
            try:
                subscriber(old, new)
            except Exception:
                # An odd object must neither end the watch nor fail the write whose answer brought it.
                log.exception("subscriber failed", extra={"kind": self._kind})
