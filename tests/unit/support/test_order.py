"""Does what waits start beside what computes, and does no test get lost?"""

from pathlib import Path

import pytest

from tests.support.order import TESTS, WAITING, Block, in_order, spread


class Named(pytest.Item):
    """A test that is only a name."""

    def runtest(self) -> None: ...


def block(name: str, request: pytest.FixtureRequest) -> Block:
    return [Named.from_parent(request.session, name=f"{name}-{number}") for number in range(2)]


def names(blocks: "list[Block]") -> list[str]:
    return [item.name.partition("-")[0] for each in blocks for item in each[:1]]


@pytest.mark.parametrize(
    ("some", "others", "expected"),
    [("ab", "123456", "a123b456"), ("abcd", "12", "a1bc2d"), ("", "12", "12"), ("ab", "", "ab"), ("", "", "")],
)
def test_they_are_spread_evenly_and_each_in_its_order(
    request: pytest.FixtureRequest, some: str, others: str, expected: str
) -> None:
    found = spread([block(name, request) for name in some], [block(name, request) for name in others])
    assert "".join(names(list(found))) == expected


def test_what_waits_starts_among_what_computes_and_the_rest_is_last(request: pytest.FixtureRequest) -> None:
    paths = ("api/engine/test_a.py", "api/engine/test_b.py", "dataplane/test_c.py", "unit/test_d.py", WAITING[0])
    found = list(in_order([(Path(path), block(path, request)) for path in paths]))
    assert names(found) == [WAITING[0], *paths[:1], *paths[2:3], *paths[1:2], *paths[3:4]]
    assert all(len(each) == 2 for each in found)


@pytest.mark.parametrize("place", WAITING)
def test_what_waits_is_there(place: str) -> None:
    assert (TESTS / place).exists()
