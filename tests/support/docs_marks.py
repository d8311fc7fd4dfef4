"""Which test runs a block of commands of the pages? A comment above each says it.

<!-- run: control plane; NAME is analytics -->        tests/api/docs, with simulated pods
<!-- run: control plane, real pods -->                there, and in tests/e2e/test_first_hour.py
<!-- run: tests/e2e/test_admission.py -->             that file does, or the same commands with other names
<!-- not run: there is no registry to push to -->
"""

import re
from dataclasses import dataclass
from typing import Final

from tests.support.docs_blocks import REPOSITORY, Block, blocks, commands_of

CONTROL_PLANE: Final = "control plane"
REAL_PODS: Final = "real pods"
TEXT: Final = frozenset({"yaml", "json", "text", "promql"})
"""Languages of what nobody types."""
_MARK: Final = re.compile(r"<!-- (run|not run): (.+) -->")
_FEW_WORDS: Final = 3


class MarkError(Exception):
    """It does not say what becomes of the block."""


@dataclass(frozen=True, slots=True)
class Mark:
    places: frozenset[str]
    replacements: tuple[tuple[str, str], ...] = ()
    reason: str = ""  # why it is run nowhere


@dataclass(frozen=True, slots=True)
class Marked:
    block: Block
    mark: Mark

    def script(self) -> str:
        text = commands_of(self.block)
        for old, new in self.mark.replacements:
            if old not in text:
                raise MarkError(f"{self.block} has no {old!r} to replace")
            text = text.replace(old, new)
        return text


def parse(text: str) -> Mark:
    found = _MARK.fullmatch(text)
    if found is None:
        raise MarkError(
            "no mark: say above it <!-- run: WHERE --> or <!-- not run: WHY --> (tests/support/docs_marks.py)"
        )
    verb, words = found.groups()
    if verb == "not run":
        if len(words.split()) < _FEW_WORDS:
            raise MarkError(f"{words!r} is no reason")
        return Mark(frozenset(), reason=words)
    where, *replacements = words.split("; ")
    places = frozenset(where.split(", "))
    unknown = [place for place in places if not _is_known(place)]
    if unknown:
        raise MarkError(f"{', '.join(unknown)} is neither {CONTROL_PLANE!r} nor {REAL_PODS!r} nor a file of tests")
    return Mark(places, tuple(_replacement(each) for each in replacements))


def marked() -> list[Marked]:
    """Every block that somebody could type; raises for one that says nothing."""
    return [Marked(block, _of(block)) for block in blocks() if block.language not in TEXT]


def marked_for(place: str) -> dict[str, Marked]:
    """By page and number."""
    return {str(each.block): each for each in marked() if place in each.mark.places}


def _of(block: Block) -> Mark:
    try:
        return parse(block.comment)
    except MarkError as err:
        raise MarkError(f"{block}: {err}") from err


def _is_known(place: str) -> bool:
    return place in {CONTROL_PLANE, REAL_PODS} or (place.startswith("tests/") and (REPOSITORY / place).is_file())


def _replacement(text: str) -> tuple[str, str]:
    old, verb, new = text.partition(" is ")
    if not verb:
        raise MarkError(f"{text!r} is no replacement; write NAME is analytics")
    return old, new
