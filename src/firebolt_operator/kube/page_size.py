"""How many objects may one answer hold? As many as fit: one tenant's large objects must not keep a list from ending.

An answer that is too long is asked for again in halves, down to a single object; one that is short doubles the next.
A server that did not answer in time gets smaller questions until whole lists succeed again.
"""

from dataclasses import dataclass, field
from typing import Final

from firebolt_operator.kube.ports import Scope
from firebolt_operator.kube.transport import ANSWER_LIMIT

SHORT_BYTES: Final = ANSWER_LIMIT // 4  # twice as many of the same kind still fit
LEAST_WHEN_SLOW: Final = 16  # 24 MiB at most: whoever cannot send that in time is away, and not busy with our question


@dataclass(slots=True)
class PageSize:
    most: int
    ceiling: int = field(init=False)
    now: int = field(init=False)

    def __post_init__(self) -> None:
        self.ceiling = self.now = self.most

    def too_long(self) -> bool:
        """False if there is no smaller question."""
        if self.now == 1:
            return False
        self.now //= 2
        return True

    def too_slow(self) -> None:
        self.ceiling = self.now = max(self.now // 2, min(self.now, LEAST_WHEN_SLOW))

    def took(self, size: int) -> None:
        if size < SHORT_BYTES:
            self.now = min(self.now * 2, self.ceiling)

    def ended(self) -> None:
        self.ceiling = min(self.ceiling * 2, self.most)


@dataclass(slots=True)
class PageSizes:
    """What was learned outlives a list: the next one does not begin with answers that nobody can take."""

    _sizes: dict[tuple[Scope, int], PageSize] = field(default_factory=dict[tuple[Scope, int], PageSize])

    def of(self, scope: Scope, most: int) -> PageSize:
        return self._sizes.get((scope, most)) or PageSize(most)

    def keep(self, scope: Scope, size: PageSize) -> None:
        """Only what differs from the beginning."""
        if size.now == size.ceiling == size.most:
            self._sizes.pop((scope, size.most), None)
        else:
            self._sizes[scope, size.most] = size
