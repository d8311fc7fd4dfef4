"""What was concluded about an object last time? Asked the same again, the answer is the same.

A resting engine is looked at twice a minute and a rolling one a dozen times, and hardly ever has anything changed that
the answer depends on. Finding that out costs a fraction of checking, rendering and comparing it all again.
"""

from collections.abc import Callable
from hashlib import blake2b
from typing import Final, Generic, TypeVar

import msgspec

MOST_REMEMBERED: Final = 10_000
MARK_BYTES: Final = 16

A = TypeVar("A")


class LastValueMemo(Generic[A]):
    """The last answer for each subject, and a mark of what was asked."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bytes, A]] = {}

    def value(self, subject: str, question: object, find: Callable[[], A]) -> A:
        """`find` must depend on nothing but the question."""
        # By its JSON, since true equals 1 in Python but not in a configuration file.
        mark = blake2b(msgspec.json.encode(question), digest_size=MARK_BYTES).digest()
        known = self._known.get(subject)
        if known is not None and known[0] == mark:
            return known[1]
        answer = find()
        self._remember(subject, mark, answer)
        return answer

    def forget(self, subject: str) -> None:
        self._known.pop(subject, None)

    def _remember(self, subject: str, mark: bytes, answer: A) -> None:
        self._known.pop(subject, None)
        if len(self._known) >= MOST_REMEMBERED:
            # Whoever changed longest ago may well be gone; if not, it is found out again.
            del self._known[next(iter(self._known))]
        self._known[subject] = (mark, answer)
