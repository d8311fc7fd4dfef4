"""What do we know of Secrets that are not ours to label? Each one that an instance refers to is watched by its name.

So a missing Secret that appears starts a pass within moments, and an instance at rest costs no reads.
"""

import asyncio
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Final, Generic, Never, TypeVar

from firebolt_operator.evidence import noted
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.live import fetch_live
from firebolt_operator.runtime.objects import Key

T = TypeVar("T")

MOST_WATCHES: Final = 500
"""Each is an open connection; beyond this, passes read live instead. Namespaces share them evenly."""


@dataclass(slots=True)
class _Watch(Generic[T]):
    informer: Informer[T]
    task: asyncio.Task[Never] | None = None

    @property
    def cache(self) -> Cache[T]:
        return self.informer.cache


class SecretWatches(Generic[T]):
    def __init__(
        self, name: str, decode: Callable[[bytes], T], following: Following, notify: Callable[[Key], None]
    ) -> None:
        self.name = name
        self._decode = decode  # keeps what may be kept
        self._following = following
        self._notify = notify  # told the key of every instance that a change concerns
        self._wanted: dict[Key, tuple[Ref, ...]] = {}  # by instance
        self._watches: dict[Ref, _Watch[T]] = {}
        self._changed = asyncio.Event()

    def want(self, instance: Key, *secrets: Ref) -> None:
        """From now on changes of these Secrets, and of no others by name, start passes of this instance."""
        if self._wanted.get(instance) == secrets:
            return
        self._wanted[instance] = secrets
        self._share_out()

    def forget(self, instance: Key) -> None:
        if self._wanted.pop(instance, None) is not None:
            self._share_out()

    def is_following(self, secret: Ref) -> bool:
        """Whether `seen` knows; not before the first list came back."""
        return noted(self._follows, secret)

    def _follows(self, secret: Ref) -> bool:
        watch = self._watches.get(secret)
        return watch is not None and not watch.informer.why_unknown(secret.namespace)

    async def read(self, secret: Ref, *, is_live: bool = False) -> T | None:
        """From the watch where there is one; raises UnreadableError like `seen`."""
        if not is_live and self.is_following(secret):
            return self.seen(secret)
        watch = self._watches.get(secret)
        # One that nobody watches is not kept.
        cache = self._cache(secret) if watch is None else watch.cache
        return await fetch_live(cache, self._following.reader, secret)

    def seen(self, secret: Ref) -> T | None:
        """Raises UnreadableError if it is there, but cannot be decoded."""
        watch = noted(self._watches.get, secret)
        return None if watch is None else watch.cache.known((secret.namespace, secret.name))

    async def run(self) -> Never:
        async with asyncio.TaskGroup() as group:
            while True:
                self._changed.clear()
                for secret, watch in self._watches.items():
                    if watch.task is None:
                        watch.task = group.create_task(watch.informer.run(), name=f"watch of {secret}")
                await self._changed.wait()

    def _watch(self, secret: Ref) -> _Watch[T]:
        cache = self._cache(secret)
        cache.subscribe(lambda _old, _new: self._tell(secret))
        cache.subscribe_aside(lambda _aside: self._tell(secret))
        return _Watch(self._following.informer(cache))

    def _cache(self, secret: Ref) -> Cache[T]:
        coverage = Coverage(namespaces=(secret.namespace,), name=secret.name)
        return Cache(secret.resource, self._decode, coverage=coverage)

    def _tell(self, secret: Ref) -> None:
        for instance, wanted in self._wanted.items():
            if secret in wanted:
                self._notify(instance)

    def _share_out(self) -> None:
        """What nobody wants any more makes room; then each namespace in turn gets a place, as long as there are any."""
        chosen = _fair_share(chain.from_iterable(self._wanted.values()), self._watches.keys(), MOST_WATCHES)
        for secret in self._watches.keys() - chosen:
            self._drop(secret)
        for secret in chosen - self._watches.keys():
            self._watches[secret] = self._watch(secret)
        self._changed.set()

    def _drop(self, secret: Ref) -> None:
        watch = self._watches.pop(secret)
        if watch.task is not None:
            watch.task.cancel()
        # Nobody tells those who lost their place to others of a change any more: they have to look for themselves.
        self._tell(secret)


def _fair_share(wanted: Iterable[Ref], watched: Container[Ref], places: int) -> set[Ref]:
    """As many for each namespace, where they ask for more; who has a place already goes first within a namespace."""
    waiting: dict[str, list[Ref]] = {}
    for secret in dict.fromkeys(wanted):
        waiting.setdefault(secret.namespace, []).append(secret)
    for mine in waiting.values():
        mine.reverse()  # the last one is taken first
        mine.sort(key=lambda secret: secret in watched)
    chosen = set[Ref]()
    while waiting and len(chosen) < places:
        for namespace in list(waiting)[: places - len(chosen)]:
            chosen.add(waiting[namespace].pop())
            if not waiting[namespace]:
                del waiting[namespace]
    return chosen
