"""Which query ran on which pod, and how often? The memory that all stand-in engines of a test share."""

import asyncio
import hashlib
from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Execution:
    query: str
    pod: str
    started_at: float  # on the loop's clock
    target: str
    headers: dict[str, str]
    body_bytes: int
    body_digest: str


@dataclass(slots=True)
class Ledger:
    executions: list[Execution] = field(default_factory=list[Execution])
    counts: Counter[str] = field(default_factory=Counter[str])
    turned_away: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # query and pod, before any work
    is_counting_only: bool = False  # long runs keep counts, not details

    def record(self, pod: str, target: str, headers: dict[str, str], body: bytes) -> None:
        query = query_id(target)
        self.counts[query] += 1
        if self.is_counting_only:
            return
        digest = hashlib.sha256(body).hexdigest() if body else ""
        now = asyncio.get_running_loop().time()
        self.executions.append(Execution(query, pod, now, target, headers, len(body), digest))

    def turn_away(self, pod: str, target: str) -> None:
        self.turned_away.append((query_id(target), pod))

    def of(self, query: str) -> list[Execution]:
        return [each for each in self.executions if each.query == query]

    def executed_twice(self) -> dict[str, int]:
        return {query: count for query, count in self.counts.items() if query and count > 1}


def parameter(target: str, name: str) -> str:
    for part in target.partition("?")[2].split("&"):
        key, _, value = part.partition("=")
        if key == name:
            return value
    return ""


def query_id(target: str) -> str:
    return parameter(target, "id")
