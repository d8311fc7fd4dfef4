"""Which edits are tried? Of the kinds' own fields all, of those of embedded pod templates as many as asked for."""

import random
from collections.abc import Iterator, Sequence
from typing import Final

from firebolt_local.campaign.edits.edit import Edit, schemas
from firebolt_local.campaign.edits.fields import Field, fields
from firebolt_local.campaign.edits.values import Sort

EDITS_LINE: Final = "edits: "
ENOUGH: Final = 1250
"""Edits to draw, so that every field of our own gets every sort of edit."""
CHAIN: Final = 4
_JOINT: Final = "; "
_IDENTITY: Final = frozenset({("FireboltInstance", "id")})
"""A change of it is final by design."""

Chain = tuple[Edit, ...]


def chains(count: int, seed: int) -> list[Chain]:
    """About so many edits, the same for the same seed; those of an instance by themselves."""
    rng = random.Random(seed)
    drawn = _drawn(count, rng)
    rng.shuffle(drawn)
    of_instances = [edit for edit in drawn if edit.kind == "FireboltInstance"]
    of_engines = [edit for edit in drawn if edit.kind != "FireboltInstance"]
    return [*_chained(of_engines), *_chained(of_instances)]


def chain_line(chain: Sequence[Edit]) -> str:
    return EDITS_LINE + _JOINT.join(map(str, chain))


def edit_lines(line: str) -> list[str]:
    return line.removeprefix(EDITS_LINE).split(_JOINT)


def _drawn(count: int, rng: random.Random) -> list[Edit]:
    own = [Edit(kind, field, sort) for kind, field in _every() if _is_own(field) for sort in Sort]
    others = [(kind, field) for kind, field in _every() if not _is_own(field)]
    rng.shuffle(own)
    own = own[:count]
    more = rng.choices(others, k=max(0, count - len(own)))
    return own + [Edit(kind, field, rng.choice(list(Sort))) for kind, field in more]


def _every() -> Iterator[tuple[str, Field]]:
    for kind, schema in schemas().items():
        yield from ((kind, field) for field in fields(schema) if (kind, str(field)) not in _IDENTITY)


def _is_own(field: Field) -> bool:
    return "template" not in field.path[:-1]


def _chained(edits: Sequence[Edit]) -> Iterator[Chain]:
    for start in range(0, len(edits), CHAIN):
        yield tuple(edits[start : start + CHAIN])
