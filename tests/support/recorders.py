"""Recorders that remember what they were told."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class QueueNotes:
    adds: int = 0
    retries: int = 0
    waits: list[float] = field(default_factory=list[float])
    works: list[float] = field(default_factory=list[float])

    def added(self) -> None:
        self.adds += 1

    def retried(self) -> None:
        self.retries += 1

    def handed_out(self, waited: float, /) -> None:
        self.waits.append(waited)

    def finished(self, worked: float, /) -> None:
        self.works.append(worked)


@dataclass
class PassNotes:
    active: int = 0
    results: list[str] = field(default_factory=list[str])
    remarks: list[str] = field(default_factory=list[str])
    has_result: asyncio.Event = field(default_factory=asyncio.Event)

    def began(self) -> None:
        self.active += 1

    def ended(self, result: str, _seconds: float, /) -> None:
        self.active -= 1
        self.results.append(result)
        self.has_result.set()

    def rejected(self) -> None:
        self.remarks.append("rejected")

    def timed_out(self) -> None:
        self.remarks.append("timed out")

    def crashed(self) -> None:
        self.remarks.append("crashed")


@dataclass
class LeaderNotes:
    is_leader: bool = False
    slow_paths: int = 0

    def leading(self, is_leader: bool, /) -> None:
        self.is_leader = is_leader

    def slow_path(self) -> None:
        self.slow_paths += 1
