"""What does a pass rest on? Whoever answers it notes the question, so that no reader can forget one.

Asked again and answered the same throughout, a pass need not be repeated. What cannot be asked again for free (the API
server, a pod, how many events may be sent) spoils the evidence: such a pass is always repeated.
"""

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")
Checks = tuple[tuple[Callable[[Any], object], ...], tuple[Hashable, ...], tuple[object, ...]]
"""How to ask, what, and what the answers were; side by side, because they are kept for each object at rest."""


class Evidence:
    """All that was asked during one pass, by whichever of its tasks. The first answer counts: a second one that
    differs means that the world moved on meanwhile.
    """

    __slots__ = ("_answers", "is_spoiled")

    def __init__(self) -> None:
        self._answers: dict[tuple[Callable[[Any], object], Hashable], object] = {}
        self.is_spoiled = False

    def add(self, ask: Callable[[Any], object], question: Hashable, answer: object) -> None:
        self._answers.setdefault((ask, question), answer)

    def checks(self) -> Checks:
        asks, questions = zip(*self._answers, strict=True) if self._answers else ((), ())
        return asks, questions, tuple(self._answers.values())


_CURRENT: Final[ContextVar[Evidence | None]] = ContextVar("evidence", default=None)


@contextmanager
def gathering() -> Generator[Evidence]:
    """Tasks that are made meanwhile add to it as well."""
    evidence = Evidence()
    token = _CURRENT.set(evidence)
    try:
        yield evidence
    finally:
        _CURRENT.reset(token)


def noted(ask: Callable[[Q], A], question: Q) -> A:
    """The answer. `ask` must hand out the very same object for as long as nothing has changed."""
    answer = ask(question)
    evidence = _CURRENT.get()
    if evidence is not None:
        evidence.add(ask, question, answer)
    return answer


def spoil() -> None:
    """The pass rests on something that cannot be asked again for free, or has done something."""
    evidence = _CURRENT.get()
    if evidence is not None:
        evidence.is_spoiled = True


def still_holds(checks: Checks) -> bool:
    return all(ask(question) is answer for ask, question, answer in zip(*checks, strict=True))
