"""What do we know of Secrets that are not ours to label? Each one that an instance refers to is watched by its name.

So a missing Secret that appears starts a pass within moments, and an instance at rest costs no reads.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Never

from firebolt_operator.instance.views import SecretView, decode_secret
from firebolt_operator.kube.ports import Reader
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.objects import Key

MOST_WATCHES: Final = 500
"""Each is an open connection; beyond this, passes read live instead."""


@dataclass(slots=True)
class _Watch:
    cache: Cache[SecretView]
    task: asyncio.Task[Never] | None = None


class SecretWatches:
    def __init__(self, reader: Reader, clock: Clock, rng: random.Random, notify: Callable[[Key], None]) -> None:
        self._reader = reader
        self._clock = clock
        self._rng = rng
        self._notify = notify  # told the key of every instance that a change concerns
        self._wanted: dict[Key, Ref] = {}  # by instance
        self._watches: dict[Ref, _Watch] = {}
        self._changed = asyncio.Event()

    @property
    def name(self) -> str:
        return "referenced secrets"

    def want(self, instance: Key, secret: Ref) -> None:
        """From now on changes of this Secret, and of no other by name, start passes of this instance."""
        if self._wanted.get(instance) == secret:
            return
        self._wanted[instance] = secret
        if secret not in self._watches and len(self._watches) < MOST_WATCHES:
            self._watches[secret] = _Watch(self._cache(secret))
        self._drop_unwanted()

    def forget(self, instance: Key) -> None:
        if self._wanted.pop(instance, None) is not None:
            self._drop_unwanted()

    def is_following(self, secret: Ref) -> bool:
        """Whether `seen` knows; not before the first list came back."""
        return secret in self._watches and self._watches[secret].cache.is_synced

    def seen(self, secret: Ref) -> SecretView | None:
        """Raises UnreadableError if it is there, but cannot be decoded."""
        watch = self._watches.get(secret)
        return None if watch is None else watch.cache.known((secret.namespace, secret.name))

    async def run(self) -> Never:
        async with asyncio.TaskGroup() as group:
            while True:
                self._changed.clear()
                for secret, watch in self._watches.items():
                    if watch.task is None:
                        informer = Informer(watch.cache, self._reader, self._clock, self._rng)
                        watch.task = group.create_task(informer.run(), name=f"watch of {secret}")
                await self._changed.wait()

    def _cache(self, secret: Ref) -> Cache[SecretView]:
        coverage = Coverage(namespaces=(secret.namespace,), name=secret.name)
        cache = Cache(secret.resource, decode_secret, coverage=coverage)
        cache.subscribe(lambda _old, _new: self._tell(secret))
        cache.subscribe_aside(lambda _aside: self._tell(secret))
        return cache

    def _tell(self, secret: Ref) -> None:
        for instance, wanted in self._wanted.items():
            if wanted == secret:
                self._notify(instance)

    def _drop_unwanted(self) -> None:
        for secret in self._watches.keys() - set(self._wanted.values()):
            watch = self._watches.pop(secret)
            if watch.task is not None:
                watch.task.cancel()
        self._changed.set()
