"""Who has waited longest, and whose turn is it? Groups take turns: the crowd of one keeps nobody else waiting."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class WaitingLine(Generic[K]):
    def __init__(self, group_of: Callable[[K], Hashable]) -> None:
        self._group_of = group_of
        self._since: OrderedDict[K, float] = OrderedDict()  # in the order of arrival
        self._groups: OrderedDict[Hashable, OrderedDict[K, None]] = OrderedDict()  # the next turn first; none is empty

    def __len__(self) -> int:
        return len(self._since)

    def __contains__(self, key: K) -> bool:
        return key in self._since

    def add(self, key: K, since: float) -> None:
        self._since[key] = since
        self._groups.setdefault(self._group_of(key), OrderedDict())[key] = None

    def remove(self, key: K) -> float:
        """Since when it has waited."""
        group = self._group_of(key)
        del self._groups[group][key]
        if not self._groups[group]:
            del self._groups[group]
        return self._since.pop(key)

    def oldest(self) -> K:
        return next(iter(self._since))

    def waiting_since(self) -> float:
        return next(iter(self._since.values()))

    def on_turn(self) -> K:
        """Whose turn it is; its group is the last one then."""
        group, keys = next(iter(self._groups.items()))
        self._groups.move_to_end(group)
        return next(iter(keys))
