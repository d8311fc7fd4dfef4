"""What do we know about the objects of one resource, our own writes included?

Three sources tell: the watch, the answers to our own writes, and live reads. They overtake each other, so all news is
ordered by resourceVersion, and none is taken that is older than what is known. Hence a pass needs no GET to be safe.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from firebolt_operator.errors import ExpiredError
from firebolt_operator.evidence import noted
from firebolt_operator.kube.ports import WatchEvent
from firebolt_operator.kube.transport import ANSWER_LIMIT
from firebolt_operator.refs import Ref, Resource
from firebolt_operator.runtime.coverage import EVERYWHERE, Coverage
from firebolt_operator.runtime.indexes import IndexFunction
from firebolt_operator.runtime.objects import Header, Key, header_of
from firebolt_operator.runtime.store import Entry, Store
from firebolt_operator.runtime.tombstones import Tombstones

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Listing:
    """One list under way. The watch may go on telling meanwhile: what it tells can be newer than the list."""

    part: str
    since: int  # the watermark when the list was asked for
    version: int = 0  # of the list as a whole, once it is answered
    seen: set[Key] = field(default_factory=set[Key])
    gone: dict[Key, int] = field(default_factory=dict[Key, int])  # reported as deleted meanwhile, at which version


class Cache(Store[T]):
    def __init__(
        self,
        resource: Resource,
        decode: Callable[[bytes], T],
        *,
        coverage: Coverage = EVERYWHERE,
        indexes: Mapping[str, IndexFunction[T]] | None = None,
        most_bytes: int = ANSWER_LIMIT,
    ) -> None:
        """An object that is larger, as JSON, is set aside."""
        super().__init__(resource.kind, decode, indexes=indexes, most_bytes=most_bytes)
        self.resource = resource
        self.coverage = coverage
        self._tombstones = Tombstones()
        self._suspects: set[Key] = set()
        self._find_suspect = self._suspects.__contains__
        self._watermarks: dict[str, int] = {}
        self._is_first_list = False
        self._listings: dict[str, Listing] = {}  # by part; one that failed stays until the next one is asked for

    @property
    def is_first_list(self) -> bool:
        """What is told at this moment has not changed: it is just seen for the first time."""
        return self._is_first_list

    @property
    def is_synced(self) -> bool:
        """Every part of the coverage was listed at least once."""
        return len(self._watermarks) == len(self.coverage.parts)

    def is_suspect(self, key: Key) -> bool:
        """A write to this object was never answered: only a live read can tell what it is now."""
        return noted(self._find_suspect, key)

    # What our own requests tell (a WriteObserver)

    def written(self, ref: Ref, body: bytes, /) -> None:
        if ref.resource == self.resource:
            self._learn(body)

    def deleted(self, ref: Ref, uid: str, /) -> None:
        key = (ref.namespace, ref.name)
        if ref.resource != self.resource or self.coverage.part_of(ref.namespace) is None:
            return
        entry = self._entries.get(key)
        if entry is None or entry.uid != uid:
            self._tombstones.bury(key, uid, 0)
        else:
            self._bury(key, entry)

    def unanswered(self, ref: Ref, /) -> None:
        if ref.resource == self.resource:
            self._suspects.add((ref.namespace, ref.name))

    def observed(self, ref: Ref, body: bytes | None, *, since: int) -> None:
        """Take in a live read. `since` is `version()` as it was before the read was sent.

        It tells "gone since we last heard" from "made while the answer was on its way".
        """
        key = (ref.namespace, ref.name)
        self._suspects.discard(key)
        entry = self._entries.get(key)
        if body is not None:
            self._learn(body)
        elif entry is not None and entry.version == since:
            self._bury(key, entry)

    def _bury(self, key: Key, entry: Entry[T]) -> None:
        self._tombstones.bury(key, entry.uid, entry.version)
        self._drop(key)

    def _learn(self, body: bytes) -> None:
        header = self._header(body)
        # The answer to a patch of `scale` is another kind under the same name and uid.
        if header is None or header.kind not in {"", self.resource.kind}:
            return
        part = self.coverage.part_of(header.metadata.namespace)
        # The watch has told all up to its watermark: an older answer may even be about an object deleted since.
        if part is not None and header.version > self.watermark(part):
            self._offer(header, body, is_covered=self.coverage.has(header))

    # What the server tells (through an Informer)

    def watermark(self, part: str) -> int:
        """All changes up to this resourceVersion are known in this part of the coverage; 0 before the first list."""
        return self._watermarks.get(part, 0)

    def expect_list(self, part: str) -> None:
        """To be called before a list is asked for; without it, the list counts as asked for when it begins."""
        self._listings[part] = Listing(part, self.watermark(part))

    def begin_list(self, part: str, version: int) -> Listing:
        """To be called with the version of the first page."""
        listing = self._listings.setdefault(part, Listing(part, self.watermark(part)))
        listing.version = version
        # A list is never older than what was known when it was asked for; only the versions themselves can have gone
        # back. What the watch told since then may well be newer, and means nothing.
        if version < listing.since:
            self._rewind(listing)
        return listing

    def listed(self, listing: Listing, body: bytes) -> None:
        """Raises ExpiredError if the server has forgotten what it told before: only another list can help then."""
        header = self._header(body)
        if header is None:
            return
        listing.seen.add(header.key)
        if header.version <= listing.gone.get(header.key, 0):
            return
        known = self.version(header.key)
        if header.version < known <= listing.version:
            self._rewind(listing)
            raise ExpiredError(f"{'/'.join(header.key)} went back from {known} to {header.version}")
        self._is_first_list = listing.part not in self._watermarks
        try:
            self._offer(header, body, is_covered=True)
        finally:
            self._is_first_list = False

    def end_list(self, listing: Listing) -> None:
        """Whatever the list does not know is gone, unless it was written after the list was taken."""
        for key in self._keys_of(listing.part):
            if key not in listing.seen and self._entries[key].version <= listing.version:
                self._drop(key)
        self._listings.pop(listing.part, None)
        self._know_all(listing.part, max(listing.version, self.watermark(listing.part)))

    def watched(self, part: str, event: WatchEvent) -> None:
        """Raises ExpiredError if the event is older than what was told before it: only a list can help then."""
        header = self._header(event.body)
        if header is None:
            return
        if header.version < self.watermark(part):
            raise ExpiredError(f"versions went back from {self.watermark(part)} to {header.version}")
        if event.type == "BOOKMARK":
            self._know_all(part, header.version)
            return
        if event.type == "DELETED":
            self._removed(part, header)
        else:
            self._offer(header, event.body, is_covered=True)
        self._watermarks[part] = header.version

    def _know_all(self, part: str, version: int) -> None:
        self._tombstones.rise(version, lambda key: self.coverage.part_of(key[0]) == part)
        self._watermarks[part] = version

    def _keys_of(self, part: str) -> list[Key]:
        return [key for key in self._entries if self.coverage.part_of(key[0]) == part]

    def _rewind(self, listing: Listing) -> None:
        """The server's versions went back (a restored backup): what it says now counts, however old it looks."""
        part = listing.part
        log.warning("resource versions went back", extra={"kind": self.resource.kind, "part": part})
        self._tombstones = Tombstones()
        self._watermarks[part] = 0
        listing.gone.clear()
        for key in self._keys_of(part):
            entry = self._entries[key]
            self._entries[key] = Entry(0, entry.uid, entry.value)

    def _removed(self, part: str, header: Header) -> None:
        if part in self._listings:
            self._listings[part].gone[header.key] = header.version
        if header.key in self._entries and self.version(header.key) <= header.version:
            self._drop(header.key)

    def _header(self, body: bytes) -> Header | None:
        try:
            return header_of(body)
        except ValueError:
            self.broken_total += 1
            log.exception("object without usable metadata", extra={"kind": self.resource.kind})
            return None

    def _offer(self, header: Header, body: bytes, *, is_covered: bool) -> None:
        key = header.key
        entry = self._entries.get(key)
        if (entry is not None and header.version <= entry.version) or self._tombstones.hide(header):
            return
        if is_covered:
            self._take(header, body)
        elif entry is not None:
            # Relabelled out of the coverage by ourselves; the watch will call it a deletion.
            self._tombstones.sink(key, header.version)
            self._drop(key)
