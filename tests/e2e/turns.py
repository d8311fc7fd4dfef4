"""For how long, and how, were queries refused while TLS was turned on or off?

Two clients ask at the same time, one in the clear and one encrypted: at rest one of them is always wrong. What counts
as refused is an instant at which neither of them got an answer.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kubectl_firebolt.picture.answers import Answer

TICK_SECONDS = 0.1  # each client asks several times in it
_ERROR = re.compile(r"\b((?:Client|Server)\w*(?:Error)?)\b")
_SPOKEN = re.compile(r"HTTP (\d+): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What two clients met from one instant to another."""

    name: str
    since: float
    until: float
    plain: tuple[Answer, ...]
    encrypted: tuple[Answer, ...]

    @property
    def refused_seconds(self) -> float:
        """Between the first and the last instant, all of those at which nobody was answered."""
        good = {_tick(answer.due_at) for answer in (*self.plain, *self.encrypted) if answer.is_good}
        asked = {_tick(answer.due_at) for answer in (*self.plain, *self.encrypted)}
        return len(asked - good) * TICK_SECONDS

    @property
    def first_encrypted(self) -> float | None:
        return min((answer.due_at for answer in self.encrypted if answer.is_good), default=None)

    @property
    def last_plain(self) -> float | None:
        return max((answer.due_at for answer in self.plain if answer.is_good), default=None)

    @property
    def kinds(self) -> dict[str, Counter[str]]:
        clients = {"plain": self.plain, "encrypted": self.encrypted}
        return {
            name: Counter(kind_of(each) for each in answers if not each.is_good) for name, answers in clients.items()
        }

    def __str__(self) -> str:
        told = "; ".join(
            f"{client}: {', '.join(f'{count} {kind}' for kind, count in counter.most_common()) or 'none'}"
            for client, counter in self.kinds.items()
        )
        return f"{self.name}: {self.until - self.since:.1f} s, nobody answered for {self.refused_seconds:.1f} s; {told}"


def turn(name: str, since: float, until: float, plain: Iterable[Answer], encrypted: Iterable[Answer]) -> Turn:
    def within(answers: Iterable[Answer]) -> Sequence[Answer]:
        return tuple(answer for answer in answers if since <= answer.due_at < until)

    return Turn(name=name, since=since, until=until, plain=tuple(within(plain)), encrypted=tuple(within(encrypted)))


def kind_of(answer: Answer) -> str:
    """Without addresses and numbers, so that the same refusal has the same name."""
    if spoken := _SPOKEN.search(answer.problem):
        return f"HTTP {spoken[1]} ({spoken[2].splitlines()[0][:60]})" if spoken[2] else f"HTTP {spoken[1]}"
    error = _ERROR.search(answer.problem)
    return error[1] if error else answer.problem


def _tick(instant: float) -> int:
    return int(instant / TICK_SECONDS)
