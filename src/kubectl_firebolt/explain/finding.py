"""What keeps an object from being ready, and what to do about it. There is no finding without a fix."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Weight(StrEnum):
    BLOCKS = "blocks"  # nothing happens until a person acts
    WAITS = "waits"  # gets on by itself; the fix says how to help or how to see more
    NOTE = "note"  # no reason, but worth knowing


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    weight: Weight
    what: str
    fix: str
    command: str = ""  # for a shell, where one is part of the fix


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    subject: str  # kind and name
    state: str  # where it stands, in one sentence
    is_well: bool
    findings: Sequence[Finding]
    next_step: str  # of the operator
    warnings: Sequence[str] = ()  # events, the newest first
    unseen: Sequence[str] = ()  # what could not be looked at, and why


def blocks(what: str, fix: str, command: str = "") -> Finding:
    return Finding(weight=Weight.BLOCKS, what=what, fix=fix, command=command)


def waits(what: str, fix: str, command: str = "") -> Finding:
    return Finding(weight=Weight.WAITS, what=what, fix=fix, command=command)


def note(what: str, fix: str, command: str = "") -> Finding:
    return Finding(weight=Weight.NOTE, what=what, fix=fix, command=command)
