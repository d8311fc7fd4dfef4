"""Which objects are there, which share a property, and who wants to know of a change? Order is the cache's concern."""

import logging
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import msgspec

from firebolt_operator.errors import UnreadableError
from firebolt_operator.evidence import noted, spoil
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.kube.transport import ANSWER_LIMIT
from firebolt_operator.runtime.indexes import Indexes, IndexFunction
from firebolt_operator.runtime.objects import Aside, Header, Key, aside_of

T = TypeVar("T")
Subscriber = Callable[[T | None, T | None], None]
"""Told (old, new) of every change, at once and in order; None means absent, or set aside."""
AsideSubscriber = Callable[[Aside], None]
"""Told of an object that was set aside, and of one that was set aside and is gone."""

log = logging.getLogger(__name__)


class Entry(msgspec.Struct, Generic[T], frozen=True, gc=False):
    version: int
    uid: str
    value: T | None  # None: set aside, because the object is there but could not be decoded


class Store(Generic[T]):
    """Values are shared by all readers: nobody changes them. Whatever is read here is noted as evidence of the pass."""

    def __init__(
        self,
        kind: str,
        decode: Callable[[bytes], T],
        *,
        indexes: Mapping[str, IndexFunction[T]] | None = None,
        most_bytes: int = ANSWER_LIMIT,
    ) -> None:
        self._decode = decode
        self._most_bytes = most_bytes
        self.broken_total = 0
        self._kind = kind
        self._entries: dict[Key, Entry[T]] = {}
        self._indexes: Indexes[T] = Indexes(indexes or {})
        self._broken: dict[Key, Aside] = {}
        self._broken_in: dict[str, dict[Key, Aside]] = {}  # the same by namespace
        self._subscribers: list[Subscriber[T]] = []
        self._aside_subscribers: list[AsideSubscriber] = []
        # Made once, because what a pass rests on is kept for as long as its object rests.
        self._find = self._entries.get
        self._find_keys = self._indexes.keys
        self._find_broken = self._broken_in.get

    def __len__(self) -> int:
        spoil()
        return len(self._entries) - len(self._broken)

    def get(self, key: Key) -> T | None:
        entry = noted(self._find, key)
        return None if entry is None else entry.value

    def known(self, key: Key) -> T | None:
        """For whoever acts on an absence; raises UnreadableError for an object that is there, but was set aside."""
        value = self.get(key)
        if key in self._broken:
            raise UnreadableError(f"{self._kind} {'/'.join(filter(None, key))} is there, but cannot be decoded")
        return value

    def decode(self, body: bytes) -> T:
        """Raises UnreadableError, whatever the projection raises."""
        if isinstance(body, SetAside):
            raise UnreadableError("nested too deeply, too large, or no JSON at all")
        if len(body) > self._most_bytes:
            raise UnreadableError(f"it has {len(body)} bytes as JSON, and {self._most_bytes} are the most")
        try:
            return self._decode(body)
        except Exception as err:
            raise UnreadableError(str(err)) from err

    def version(self, key: Key) -> int:
        """The resourceVersion known of an object, 0 if none is."""
        entry = noted(self._find, key)
        return 0 if entry is None else entry.version

    def values(self) -> list[T]:
        spoil()
        return [value for key in sorted(self._entries) if (value := self.get(key)) is not None]

    def by_index(self, name: str, term: str) -> list[T]:
        return [value for key in noted(self._find_keys, (name, term)) if (value := self.get(key)) is not None]

    @property
    def broken(self) -> frozenset[Key]:
        """Objects that were set aside. They are there: whoever does not find one must not take it for missing."""
        spoil()
        return frozenset(self._broken)

    def set_aside(self, namespace: str | None = None) -> list[Aside]:
        """Those of one namespace, or all: what a tenant made unreadable need not cost anybody else a look."""
        found: dict[Key, Aside] | None = self._broken if namespace is None else noted(self._find_broken, namespace)
        if found is None:
            return []
        spoil()  # it is changed in place
        return [found[key] for key in sorted(found)]

    def subscribe(self, subscriber: Subscriber[T]) -> None:
        self._subscribers.append(subscriber)

    def subscribe_aside(self, subscriber: AsideSubscriber) -> None:
        self._aside_subscribers.append(subscriber)

    def _take(self, header: Header, body: bytes) -> None:
        key = header.key
        old = self.get(key)
        try:
            new = self.decode(body)
            terms = self._indexes.terms(new)
        except Exception as err:  # noqa: BLE001 - one broken object must only hurt itself, whatever a projection raises
            self._mark_broken(aside_of(header, body), err)
            new, terms = None, []
        else:
            self._mend(key)
        self._entries[key] = Entry(header.version, header.metadata.uid, new)
        self._indexes.move(key, self._terms(old), terms)
        self._tell(old, new)
        self._tell_aside(self._broken.get(key))

    def _terms(self, value: T | None) -> list[tuple[str, str]]:
        return [] if value is None else self._indexes.terms(value)

    def _drop(self, key: Key) -> None:
        aside = self._mend(key)
        old = self._entries.pop(key).value
        self._indexes.move(key, self._terms(old), ())
        self._tell(old, None)
        self._tell_aside(aside)

    def _mark_broken(self, aside: Aside, err: Exception) -> None:
        self.broken_total += 1
        key = aside.header.key
        if key not in self._broken:
            log.error("object set aside", extra={"kind": self._kind, "key": "/".join(key), "error": err})
        self._broken[key] = aside
        self._broken_in.setdefault(key[0], {})[key] = aside

    def _mend(self, key: Key) -> Aside | None:
        aside = self._broken.pop(key, None)
        if aside is not None:
            neighbours = self._broken_in[key[0]]
            del neighbours[key]
            if not neighbours:
                del self._broken_in[key[0]]
        return aside

    def _tell(self, old: T | None, new: T | None) -> None:
        if old is None and new is None:
            return
        for subscriber in self._subscribers:
            self._call(subscriber, old, new)

    def _tell_aside(self, aside: Aside | None) -> None:
        if aside is None:
            return
        for subscriber in self._aside_subscribers:
            self._call(subscriber, aside)

    def _call(self, subscriber: Callable[..., None], *told: object) -> None:
        """An odd object must neither end the watch nor fail the write whose answer brought it."""
        try:
            subscriber(*told)
        except Exception:
            log.exception("subscriber failed", extra={"kind": self._kind})
