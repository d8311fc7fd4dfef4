"""Which cached objects share a property? Sorted lists of keys, kept up to date one object at a time."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from firebolt_operator.runtime.objects import Key

T = TypeVar("T")
IndexFunction = Callable[[T], Iterable[str]]


class Indexes(Generic[T]):
    def __init__(self, functions: Mapping[str, IndexFunction[T]]) -> None:
        self._functions = dict(functions)
        self._keys: dict[str, dict[str, list[Key]]] = {name: {} for name in functions}

    def terms(self, value: T) -> list[tuple[str, str]]:
        """Every (index, value) pair under which the object is found; raises whatever the functions raise."""
        return [(name, term) for name, function in self._functions.items() for term in set(function(value))]

    def keys(self, name: str, term: str) -> list[Key]:
        return self._keys[name].get(term, [])

    def add(self, key: Key, terms: Iterable[tuple[str, str]]) -> None:
        for name, term in terms:
            # Sorted lists cost a quarter of what sets do, and most terms have few keys.
            insort(self._keys[name].setdefault(term, []), key)

    def discard(self, key: Key, terms: Iterable[tuple[str, str]]) -> None:
        for name, term in terms:
            keys = self._keys[name].get(term, [])
            position = bisect_left(keys, key)
            if position == len(keys) or keys[position] != key:
                continue
            del keys[position]
            if not keys:
                del self._keys[name][term]
