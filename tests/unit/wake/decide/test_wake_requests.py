"""When is a wake request due? One for everybody, again every thirty seconds, never one per query."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.wake.decide.wake_requests import MOST_ENGINES, REFRESH_SECONDS, Claim, WakeRequests
from firebolt_operator.wake.requester import retry_delay


class Waiting(set[str]):
    """Engines that holds wait for."""

    def book(self) -> WakeRequests:
        return WakeRequests(is_waiting=self.__contains__, waiting=lambda: sorted(self))


@pytest.fixture
def waiting() -> Waiting:
    return Waiting({"eng"})


def test_given_many_requests_when_claimed_then_there_is_one_stamp(waiting: Waiting) -> None:
    book = waiting.book()
    assert [book.demand("eng", now=0.0) for _ in range(500)] == [True] + [False] * 499
    assert book.claim(now=0.0) == Claim("eng", 0.0)
    assert book.claim(now=0.0) is None


def test_given_holds_that_wait_when_time_passes_then_the_stamp_is_renewed_every_thirty_seconds(
    waiting: Waiting,
) -> None:
    book = waiting.book()
    book.demand("eng", now=0.0)
    book.claim(now=0.0)
    book.stamped("eng", now=1.0)
    assert (book.claim(now=30.9), book.next_due_at()) == (None, 31.0)
    assert book.claim(now=31.0) == Claim("eng", 31.0)


def test_given_nobody_who_waits_when_the_renewal_is_due_then_the_engine_is_forgotten(waiting: Waiting) -> None:
    book = waiting.book()
    book.demand("eng", now=0.0)
    book.claim(now=0.0)
    book.stamped("eng", now=0.0)
    waiting.clear()
    assert not book.demand("eng", now=29.0)  # the stamp from before still tells
    assert (book.claim(now=30.0), len(book)) == (None, 0)
    assert book.demand("eng", now=31.0)


def test_given_an_engine_that_was_ready_since_when_asked_for_then_it_is_stamped_at_once(waiting: Waiting) -> None:
    book = waiting.book()
    book.demand("eng", now=0.0)
    book.claim(now=0.0)
    book.stamped("eng", now=0.0)
    book.forget("eng")
    assert book.demand("eng", now=1.0)
    assert book.claim(now=1.0) == Claim("eng", 1.0)


def test_given_a_stamp_under_way_when_ready_and_wanted_again_then_another_follows_it(waiting: Waiting) -> None:
    book = waiting.book()
    book.demand("eng", now=0.0)
    book.claim(now=0.0)
    book.forget("eng")
    book.demand("eng", now=1.0)
    assert book.claim(now=1.0) is None
    book.stamped("eng", now=2.0)
    assert book.claim(now=2.0) == Claim("eng", 2.0)


def test_given_a_stamp_under_way_when_ready_then_it_is_forgotten_once_answered(waiting: Waiting) -> None:
    book = waiting.book()
    book.demand("eng", now=0.0)
    book.claim(now=0.0)
    book.forget("eng")
    book.failed("eng", now=1.0, delay=1.0)
    assert (len(book), book.claim(now=100.0)) == (0, None)


def test_given_a_missing_engine_when_asked_for_often_then_it_is_looked_for_every_five_seconds(
    waiting: Waiting,
) -> None:
    book = waiting.book()
    book.demand("eng", now=0.0)
    book.claim(now=0.0)
    book.refused("eng", now=0.0)
    book.demand("eng", now=1.0)
    assert book.claim(now=4.9) is None
    assert book.claim(now=5.0) == Claim("eng", 5.0)


def test_given_a_missing_engine_when_nobody_waits_any_more_then_it_is_not_looked_for_again(waiting: Waiting) -> None:
    book = waiting.book()
    book.demand("eng", now=0.0)
    book.claim(now=0.0)
    book.refused("eng", now=0.0)
    waiting.clear()
    assert (book.claim(now=5.0), len(book)) == (None, 0)


def test_given_an_empty_book_then_nothing_is_due_and_nothing_has_failed() -> None:
    book = Waiting().book()
    assert (book.next_due_at(), book.failures("eng")) == (None, 0)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(399.9, Claim("eng", 100.0), id="the-operator-takes-it"),
        pytest.param(400.0, None, id="five-minutes-old"),
    ],
)
def test_given_nobody_who_waits_then_a_request_is_stamped_as_long_as_it_counts(
    now: float, expected: Claim | None
) -> None:
    book = Waiting().book()
    book.demand("eng", now=100.0)
    book.claim(now=100.0)
    book.failed("eng", now=100.0, delay=1.0)
    assert book.claim(now=now) == expected


def test_given_a_stamp_that_fails_for_long_when_somebody_asks_again_then_the_newest_request_is_stamped() -> None:
    book = Waiting().book()
    book.demand("eng", now=0.0)
    book.claim(now=0.0)
    book.failed("eng", now=0.0, delay=310.0)
    book.demand("eng", now=250.0)
    assert book.claim(now=310.0) == Claim("eng", 250.0)


def test_given_a_failed_stamp_when_its_client_left_then_the_instant_of_its_request_is_stamped_later() -> None:
    book = Waiting().book()
    book.demand("eng", now=7.0)
    assert book.claim(now=7.0) == Claim("eng", 7.0)
    book.failed("eng", now=8.0, delay=2.0)
    assert (book.claim(now=9.0), book.failures("eng")) == (None, 1)
    assert book.claim(now=10.0) == Claim("eng", 7.0)
    book.failed("eng", now=310.0, delay=2.0)
    assert (book.claim(now=312.0), len(book)) == (None, 0)  # the operator would not take it any more


def test_given_more_names_than_fit_when_asked_then_known_ones_stay_and_the_rest_is_counted() -> None:
    book = Waiting().book()
    assert all(book.demand(f"e-{number}", now=0.0) for number in range(MOST_ENGINES))
    assert not book.demand("one-more", now=0.0)
    assert not book.demand("e-7", now=0.0)
    assert (len(book), book.dropped) == (MOST_ENGINES, 1)


def claims(book: WakeRequests, now: float) -> list[str]:
    found = list[str]()
    while (claim := book.claim(now=now)) is not None:
        found.append(claim.engine)
    return found


def full_book(waiting: Waiting) -> WakeRequests:
    """Every place is taken, by engines that were just stamped."""
    book = waiting.book()
    for number in range(MOST_ENGINES):
        book.demand(f"e-{number}", now=0.0)
    for engine in claims(book, 0.0):
        book.stamped(engine, now=0.0)
    return book


def test_given_a_full_book_when_a_place_is_free_then_whoever_still_waits_is_asked_for() -> None:
    waiting = Waiting({"late", "later"})
    book = full_book(waiting)
    for engine in ("late", "later", "left"):
        assert not book.demand(engine, now=1.0)
    assert claims(book, 2.0) == []
    book.forget("e-7")
    assert claims(book, 3.0) == ["late"]
    waiting.discard("later")
    book.forget("e-8")
    assert claims(book, 4.0) == []
    assert len(book) == MOST_ENGINES - 1


def test_given_a_full_book_when_its_engines_are_forgotten_by_time_then_whoever_waits_is_asked_for_at_once() -> None:
    waiting = Waiting({"late"})
    book = full_book(waiting)
    book.demand("late", now=1.0)
    assert claims(book, REFRESH_SECONDS) == ["late"]
    assert len(book) == 1


def test_given_somebody_turned_away_while_others_are_let_in_when_places_are_free_then_nobody_is_left_out() -> None:
    waiting = Waiting({"a", "b"})
    book = full_book(waiting)
    book.demand("a", now=1.0)
    book.demand("b", now=1.0)
    book.forget("e-1")
    assert claims(book, 2.0) == ["a"]
    waiting.add("c")
    assert not book.demand("c", now=2.0)
    for number in range(2, 5):
        book.forget(f"e-{number}")
    assert claims(book, 3.0) == ["b", "c"]


def test_retries_come_later_and_later() -> None:
    assert [retry_delay(failures) for failures in (0, 1, 2, 6, 10_000)] == [0.5, 1.0, 2.0, 30.0, 30.0]


@given(seed=st.integers(0, 2**32))
def test_given_anything_when_it_happens_then_stamps_are_rare_and_nobody_who_waits_is_forgotten(seed: int) -> None:
    rng, now = random.Random(seed), 0.0
    waiting = Waiting()
    book = waiting.book()
    stamped_at: dict[str, float] = {}
    for _ in range(300):
        now += rng.choice([0.0, 0.1, 3.0, 20.0])
        engine = rng.choice("abc")
        match rng.randrange(4):
            case 0 | 1:
                waiting.add(engine)
                book.demand(engine, now=now)
            case 2:
                waiting.discard(engine)
            case _:
                waiting.discard(engine)
                book.forget(engine)
                stamped_at.pop(engine, None)
        while (claim := book.claim(now=now)) is not None:
            assert now - stamped_at.get(claim.engine, -REFRESH_SECONDS) >= REFRESH_SECONDS
            stamped_at[claim.engine] = now
            book.stamped(claim.engine, now=now)
        assert all(now - stamped_at[each] < REFRESH_SECONDS for each in waiting)
