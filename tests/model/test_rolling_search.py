"""Engines that roll a few at a time: the limit holds in every order of events, and nobody waits for ever."""

from collections.abc import Callable

import pytest

from firebolt_operator.engine.decide import phases
from firebolt_operator.engine.decide.rolling import Origin, Standing
from tests.model import rolling_search
from tests.model.rolling_search import (
    KEPT_WAITING,
    OVERTAKEN,
    STUCK,
    TOO_MANY,
    BrokenError,
    Engine,
    RollingSearch,
    World,
)


def world(engines: int, most: int) -> World:
    """With three engines one edit of their class is enough to have them wait for each other."""
    return World(engines=(Engine(),) * engines, most=most, class_edits=1 if engines > 2 else 2)


@pytest.fixture(autouse=True)
def no_memory() -> None:
    """What was decided for one test is not what a planted fault decides."""
    rolling_search.decided.cache_clear()


@pytest.mark.parametrize(
    ("engines", "most"),
    [(2, 1), pytest.param(3, 1, marks=pytest.mark.slow), pytest.param(3, 2, marks=pytest.mark.slow)],
)
def test_in_every_order_the_limit_holds_and_everybody_arrives(
    capsys: pytest.CaptureFixture[str], engines: int, most: int
) -> None:
    search = RollingSearch(world(engines, most))
    search.run()
    search.check_rest()
    with capsys.disabled():
        print(f"\n  {engines} engines, {most} at a time: {len(search.seen):,} states (all of them)")


@pytest.mark.parametrize(
    "namespaces",
    [
        ("a", "b"),
        pytest.param(("a", "a", "b"), marks=pytest.mark.slow),
        pytest.param(("b", "a", "b"), marks=pytest.mark.slow),
    ],
)
def test_a_namespace_in_which_nobody_arrives_holds_up_itself_only(namespaces: tuple[str, ...]) -> None:
    search = RollingSearch(world(len(namespaces), 1)._replace(namespaces=namespaces, edits=0, deletions=0))
    search.run()
    search.check_rest()
    search.check_neighbours()


def test_a_neighbour_that_keeps_its_place_for_ever_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def for_ever(unchanged: World) -> World:
        return unchanged

    monkeypatch.setattr(rolling_search, "half_an_hour_later", for_ever)
    search = RollingSearch(world(2, 1)._replace(namespaces=("a", "b"), edits=0, deletions=0))
    search.run()
    with pytest.raises(BrokenError, match=STUCK):
        search.check_neighbours()


def answering(answer: object) -> Callable[..., object]:
    def instead(*_: object, **__: object) -> object:
        return answer

    return instead


def broken_by() -> str:
    search = RollingSearch(world(2, 1))
    try:
        search.run()
        search.check_rest()
    except BrokenError as err:
        return str(err).partition(":")[0]
    pytest.fail("nobody noticed")


def test_a_limit_that_nobody_looks_at_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def in_order(me: object, others: list[tuple[object, Standing]], _most: int) -> bool:
        return not any(their is Standing.WAITING and str(key) < str(me) for key, their in others)

    monkeypatch.setattr(rolling_search, "has_room", in_order)
    assert broken_by() == TOO_MANY


def test_somebody_who_starts_out_of_turn_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_luck(_me: object, others: list[tuple[object, Standing]], most: int) -> bool:
        return sum(their is Standing.ROLLING for _, their in others) < most

    monkeypatch.setattr(rolling_search, "has_room", by_luck)
    assert broken_by() == OVERTAKEN


def test_an_edit_that_is_counted_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Origin, "cause", answering("class ns/big"))
    assert broken_by() == KEPT_WAITING


def test_a_wait_without_end_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "_must_wait", answering(True))
    assert broken_by() in {STUCK, KEPT_WAITING}


def test_a_wait_for_one_that_does_not_get_on_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def for_ever(unchanged: World) -> World:
        return unchanged

    monkeypatch.setattr(rolling_search, "a_minute_later", for_ever)
    assert broken_by() == STUCK
