"""Which cached objects share a property? Sorted keys, kept up to date one object at a time.

What is handed out never changes: an object that comes or goes puts another tuple in its place. One that stays costs
nothing, however many there are beside it, or every status of a large fleet would copy the names of all.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, TypeVar

from firebolt_operator.runtime.objects import Key

T = TypeVar("T")
IndexFunction = Callable[[T], Iterable[str]]


class Indexes(Generic[T]):
    def __init__(self, functions: Mapping[str, IndexFunction[T]]) -> None:
        self._functions = dict(functions)
        self._keys: dict[str, dict[str, tuple[Key, ...]]] = {name: {} for name in functions}

    def terms(self, value: T) -> list[tuple[str, str]]:
        """Every (index, value) pair under which the object is found; raises whatever the functions raise."""
        return [(name, term) for name, function in self._functions.items() for term in set(function(value))]

    def keys(self, index_and_term: tuple[str, str]) -> tuple[Key, ...]:
        name, term = index_and_term
        return self._keys[name].get(term, ())

    def move(self, key: Key, before: Collection[tuple[str, str]], after: Collection[tuple[str, str]]) -> None:
        self._discard(key, [each for each in before if each not in after])
        self._add(key, [each for each in after if each not in before])

    def _add(self, key: Key, terms: Iterable[tuple[str, str]]) -> None:
        for name, term in terms:
            # Sorted tuples cost a quarter of what sets do, and most terms have few keys.
            keys = self._keys[name].get(term, ())
            position = bisect_left(keys, key)
            self._keys[name][term] = (*keys[:position], key, *keys[position:])

    def _discard(self, key: Key, terms: Iterable[tuple[str, str]]) -> None:
        for name, term in terms:
            keys = self._keys[name].get(term, ())
            position = bisect_left(keys, key)
            if position == len(keys) or keys[position] != key:
                continue
            left = keys[:position] + keys[position + 1 :]
            if left:
                self._keys[name][term] = left
            else:
                del self._keys[name][term]
