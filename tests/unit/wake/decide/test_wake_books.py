"""Names that clients make up: what do they take from engines, and how soon is a real one among them asked for?"""

from itertools import count

import pytest

from firebolt_operator.pace import Pace
from firebolt_operator.wake.decide.wake_books import (
    MOST_ACCEPTED,
    MOST_STRANGERS,
    STRANGERS_BURST,
    STRANGERS_PER_SECOND,
    WakeBooks,
    wake_books,
)
from firebolt_operator.wake.decide.wake_requests import REFRESH_SECONDS, Claim, WakeRequests

SEEN = {"parked", "other"}


@pytest.fixture
def books() -> WakeBooks:
    """Two engines have a Service, and a hold waits for every name."""
    return wake_books(SEEN.__contains__, lambda _: True)


def demand(books: WakeBooks, engine: str, now: float) -> bool:
    requests = books.book_of(engine)
    requests.demand(engine, now=now)
    return engine in requests


def refuse_due(requests: WakeRequests, now: float) -> list[str]:
    """The API server says of every one that it does not exist."""
    found = list[str]()
    while (claim := requests.claim(now=now)) is not None:
        requests.refused(claim.engine, now=now)
        found.append(claim.engine)
    return found


def test_given_names_without_end_when_an_engine_is_asked_for_then_it_is_stamped_at_once(books: WakeBooks) -> None:
    taken = sum(demand(books, f"junk-{number}", 0.0) for number in range(100_000))
    assert (taken, len(books.strangers), books.strangers.dropped) == (64, MOST_STRANGERS, 100_000 - MOST_STRANGERS)
    assert demand(books, "parked", 0.0)
    assert books.known.claim(now=0.0) == Claim("parked", 0.0)


def test_given_names_without_end_when_time_passes_then_stamps_for_them_keep_to_their_pace(books: WakeBooks) -> None:
    names, stamps, seconds = count(), 0, 60
    for tick in range(seconds * 100):
        now = tick / 100
        for _ in range(10):
            demand(books, f"junk-{next(names)}", now)
        stamps += len(refuse_due(books.strangers, now))
    assert stamps <= STRANGERS_BURST + seconds * STRANGERS_PER_SECOND
    assert stamps >= seconds * STRANGERS_PER_SECOND
    assert len(books.strangers) <= MOST_STRANGERS


def test_given_a_stranger_with_a_place_when_it_waits_behind_others_then_its_turn_comes_within_seconds(
    books: WakeBooks,
) -> None:
    assert all(demand(books, f"junk-{number}", 0.0) for number in range(MOST_STRANGERS - 1))
    assert demand(books, "new", 0.0)
    now, stamped = 0.0, list[str]()
    while "new" not in stamped:
        stamped += refuse_due(books.strangers, now)
        now = books.strangers.next_due_at() or now
    assert now <= (MOST_STRANGERS - STRANGERS_BURST) / STRANGERS_PER_SECOND + 0.1


def test_given_a_quiet_gateway_when_a_stranger_is_asked_for_then_it_is_stamped_at_once(books: WakeBooks) -> None:
    demand(books, "new", 5.0)
    assert (books.strangers.next_due_at(), books.strangers.claim(now=5.0)) == (5.0, Claim("new", 5.0))


def test_given_a_stranger_whose_stamp_was_taken_then_it_is_known_and_renewed_while_holds_wait(books: WakeBooks) -> None:
    demand(books, "new", 0.0)
    books.strangers.claim(now=0.0)
    books.strangers.stamped("new", now=1.0)
    books.accept("new", now=1.0)
    assert (books.is_known("new"), len(books.strangers)) == (True, 0)
    assert demand(books, "new", 2.0)
    assert books.known.claim(now=REFRESH_SECONDS) is None
    assert books.known.claim(now=1.0 + REFRESH_SECONDS) == Claim("new", 1.0 + REFRESH_SECONDS)


def test_given_an_engine_that_is_gone_when_denied_then_it_is_a_stranger_again(books: WakeBooks) -> None:
    books.accept("new", now=0.0)
    books.deny("new")
    assert not books.is_known("new")
    assert books.book_of("new") is books.strangers


def test_given_a_stranger_that_gets_a_service_when_asked_for_again_then_it_leaves_the_queue() -> None:
    seen = set[str]()
    books = wake_books(seen.__contains__, lambda _: True)
    demand(books, "new", 0.0)
    seen.add("new")
    demand(books, "new", 0.1)
    assert (len(books.strangers), books.known.claim(now=0.1)) == (0, Claim("new", 0.1))


def test_given_engines_without_end_when_accepted_then_the_newest_are_remembered(books: WakeBooks) -> None:
    books.accept("again", now=0.0)
    for number in range(MOST_ACCEPTED - 1):
        books.accept(f"e-{number}", now=0.0)
    books.accept("again", now=0.0)
    books.accept("one-more", now=0.0)
    assert (books.is_known("again"), books.is_known("one-more"), books.is_known("e-0")) == (True, True, False)


def test_given_a_pace_when_a_burst_is_used_up_then_one_a_tick_follows() -> None:
    pace = Pace(per_second=2.0, burst=3)
    for _ in range(3):
        assert pace.free_at <= 10.0
        pace.take(10.0)
    assert pace.free_at == 10.5
    pace.take(10.5)
    assert pace.free_at == 11.0
    pace.take(100.0)
    assert pace.free_at <= 100.0
