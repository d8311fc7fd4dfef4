"""In which order do test files start? What mostly waits runs beside what computes, not before and after it.

A plugin of pytest, loaded by `tests/conftest.py`. Files are handed out in this order to processes that are free: while
one waits for the grace period of a gateway, the others have the processors.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).parents[1]
WAITING: Final = (
    # The longest ones first.
    "api/docs",
    "api/chart/test_account.py",
    "dataplane",
    "api/kube/test_watches.py",
    "api/waking",
    "api/wake",
)
"""Files and folders of tests whose subject is real time: there is no other way to shorten them."""
COMPUTING: Final = "api"
"""Among these they are spread: the rest is short, and fills the last gaps."""

Block = list[pytest.Item]
"""The tests of one file."""


@pytest.hookimpl(trylast=True)  # pytest itself arranges tests by the fixtures they share
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for block in in_order(by_file(items)) for item in block]


def by_file(items: Iterable[pytest.Item]) -> list[tuple[Path, Block]]:
    files = dict[Path, Block]()
    for item in items:
        files.setdefault(item.path.relative_to(TESTS), []).append(item)
    return list(files.items())


def in_order(files: Iterable[tuple[Path, Block]]) -> Iterator[Block]:
    waiting, computing, rest = list[tuple[int, Block]](), list[Block](), list[Block]()
    for path, block in files:
        if (place := place_of(path)) is not None:
            waiting.append((place, block))
        else:
            (computing if path.is_relative_to(COMPUTING) else rest).append(block)
    waiting.sort(key=lambda each: each[0])
    yield from spread([block for _, block in waiting], computing)
    yield from rest


def place_of(path: Path) -> int | None:
    return next((place for place, each in enumerate(WAITING) if path.is_relative_to(each)), None)


def spread(some: list[Block], others: list[Block]) -> Iterator[Block]:
    """Evenly, and each in its order; of those that would start together, `some` do first."""
    places = [
        *((number / len(some), 0, block) for number, block in enumerate(some)),
        *((number / len(others), 1, block) for number, block in enumerate(others)),
    ]
    yield from (block for *_, block in sorted(places, key=lambda each: each[:2]))
