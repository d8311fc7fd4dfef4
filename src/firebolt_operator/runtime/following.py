"""What does it take to follow something on the server? For whoever begins to do so later than at the start."""

import random
from dataclasses import dataclass
from typing import TypeVar

from firebolt_operator.kube.ports import Reader
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.informer import Informer

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    reader: Reader
    clock: Clock
    rng: random.Random

    def informer(self, cache: Cache[T]) -> Informer[T]:
        return Informer(cache, self.reader, self.clock, self.rng)
