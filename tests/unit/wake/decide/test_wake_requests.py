"""When is a wake request due? One for everybody, again every thirty seconds, never one per query."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.wake.decide.wake_requests import REFRESH_SECONDS, Claim, WakeRequests
from firebolt_operator.wake.requester import retry_delay


class Waiting(set[str]):
    """Engines that holds wait for."""

    def requests(self) -> WakeRequests:
        return WakeRequests(is_waiting=self.__contains__)


@pytest.fixture
def waiting() -> Waiting:
    return Waiting({"eng"})


def test_given_many_requests_when_claimed_then_there_is_one_stamp(waiting: Waiting) -> None:
    requests = waiting.requests()
    assert [requests.demand("eng", now=0.0) for _ in range(500)] == [True] + [False] * 499
    assert requests.claim(now=0.0) == Claim("eng", 0.0)
    assert requests.claim(now=0.0) is None


def test_given_holds_that_wait_when_time_passes_then_the_stamp_is_renewed_every_thirty_seconds(
    waiting: Waiting,
) -> None:
    requests = waiting.requests()
    requests.demand("eng", now=0.0)
    requests.claim(now=0.0)
    requests.stamped("eng", now=1.0)
    assert (requests.claim(now=30.9), requests.next_due_at()) == (None, 31.0)
    assert requests.claim(now=31.0) == Claim("eng", 31.0)


def test_given_nobody_who_waits_when_the_renewal_is_due_then_the_engine_is_forgotten(waiting: Waiting) -> None:
    requests = waiting.requests()
    requests.demand("eng", now=0.0)
    requests.claim(now=0.0)
    requests.stamped("eng", now=0.0)
    waiting.clear()
    assert not requests.demand("eng", now=29.0)  # the stamp from before still tells
    assert (requests.claim(now=30.0), len(requests)) == (None, 0)
    assert requests.demand("eng", now=31.0)


def test_given_an_engine_that_was_ready_since_when_asked_for_then_it_is_stamped_at_once(waiting: Waiting) -> None:
    requests = waiting.requests()
    requests.demand("eng", now=0.0)
    requests.claim(now=0.0)
    requests.stamped("eng", now=0.0)
    requests.forget("eng")
    assert requests.demand("eng", now=1.0)
    assert requests.claim(now=1.0) == Claim("eng", 1.0)


def test_given_a_stamp_under_way_when_ready_and_wanted_again_then_another_follows_it(waiting: Waiting) -> None:
    requests = waiting.requests()
    requests.demand("eng", now=0.0)
    requests.claim(now=0.0)
    requests.forget("eng")
    requests.demand("eng", now=1.0)
    assert requests.claim(now=1.0) is None
    requests.stamped("eng", now=2.0)
    assert requests.claim(now=2.0) == Claim("eng", 2.0)


def test_given_a_stamp_under_way_when_ready_then_it_is_forgotten_once_answered(waiting: Waiting) -> None:
    requests = waiting.requests()
    requests.demand("eng", now=0.0)
    requests.claim(now=0.0)
    requests.forget("eng")
    requests.failed("eng", now=1.0, delay=1.0)
    assert (len(requests), requests.claim(now=100.0)) == (0, None)


def test_given_a_missing_engine_when_asked_for_often_then_it_is_looked_for_every_five_seconds(
    waiting: Waiting,
) -> None:
    requests = waiting.requests()
    requests.demand("eng", now=0.0)
    requests.claim(now=0.0)
    requests.refused("eng", now=0.0)
    requests.demand("eng", now=1.0)
    assert requests.claim(now=4.9) is None
    assert requests.claim(now=5.0) == Claim("eng", 5.0)


def test_given_a_missing_engine_when_nobody_waits_any_more_then_it_is_not_looked_for_again(waiting: Waiting) -> None:
    requests = waiting.requests()
    requests.demand("eng", now=0.0)
    requests.claim(now=0.0)
    requests.refused("eng", now=0.0)
    waiting.clear()
    assert (requests.claim(now=5.0), len(requests)) == (None, 0)


def test_given_no_requests_then_nothing_is_due_and_nothing_has_failed() -> None:
    requests = Waiting().requests()
    assert (requests.next_due_at(), requests.failures("eng")) == (None, 0)


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
    requests = Waiting().requests()
    requests.demand("eng", now=100.0)
    requests.claim(now=100.0)
    requests.failed("eng", now=100.0, delay=1.0)
    assert requests.claim(now=now) == expected


def test_given_a_stamp_that_fails_for_long_when_somebody_asks_again_then_the_newest_request_is_stamped() -> None:
    requests = Waiting().requests()
    requests.demand("eng", now=0.0)
    requests.claim(now=0.0)
    requests.failed("eng", now=0.0, delay=310.0)
    requests.demand("eng", now=250.0)
    assert requests.claim(now=310.0) == Claim("eng", 250.0)


def test_given_a_failed_stamp_when_its_client_left_then_the_instant_of_its_request_is_stamped_later() -> None:
    requests = Waiting().requests()
    requests.demand("eng", now=7.0)
    assert requests.claim(now=7.0) == Claim("eng", 7.0)
    requests.failed("eng", now=8.0, delay=2.0)
    assert (requests.claim(now=9.0), requests.failures("eng")) == (None, 1)
    assert requests.claim(now=10.0) == Claim("eng", 7.0)
    requests.failed("eng", now=310.0, delay=2.0)
    assert (requests.claim(now=312.0), len(requests)) == (None, 0)  # the operator would not take it any more


def test_given_more_names_than_fit_when_asked_then_those_on_the_book_stay_and_the_rest_is_counted() -> None:
    requests = WakeRequests(is_waiting=lambda _: True, most=8)
    assert all(requests.demand(f"e-{number}", now=0.0) for number in range(8))
    assert not requests.demand("one-more", now=0.0)
    assert not requests.demand("e-7", now=0.0)
    assert (len(requests), requests.dropped, "one-more" in requests, "e-7" in requests) == (8, 1, False, True)


def test_given_a_full_book_when_a_name_is_refused_then_its_place_is_free_at_once() -> None:
    requests = WakeRequests(is_waiting=lambda _: True, most=1)
    requests.demand("nobody", now=0.0)
    requests.claim(now=0.0)
    requests.refused("nobody", now=0.0)
    assert requests.demand("eng", now=0.0)
    assert requests.claim(now=0.0) == Claim("eng", 0.0)


def test_given_a_request_of_another_book_when_taken_over_then_it_is_renewed_but_not_stamped_at_once(
    waiting: Waiting,
) -> None:
    requests = waiting.requests()
    requests.take_over("eng", now=1.0)
    assert not requests.demand("eng", now=2.0)
    assert (requests.claim(now=30.9), requests.claim(now=31.0)) == (None, Claim("eng", 31.0))
    requests.take_over("eng", now=32.0)
    requests.stamped("eng", now=32.0)
    assert requests.next_due_at() == 62.0


def test_retries_come_later_and_later() -> None:
    assert [retry_delay(failures) for failures in (0, 1, 2, 6, 10_000)] == [0.5, 1.0, 2.0, 30.0, 30.0]


@given(seed=st.integers(0, 2**32))
def test_given_anything_when_it_happens_then_stamps_are_rare_and_nobody_who_waits_is_forgotten(seed: int) -> None:
    rng, now = random.Random(seed), 0.0
    waiting = Waiting()
    requests = waiting.requests()
    stamped_at: dict[str, float] = {}
    for _ in range(300):
        now += rng.choice([0.0, 0.1, 3.0, 20.0])
        engine = rng.choice("abc")
        match rng.randrange(4):
            case 0 | 1:
                waiting.add(engine)
                requests.demand(engine, now=now)
            case 2:
                waiting.discard(engine)
            case _:
                waiting.discard(engine)
                requests.forget(engine)
                stamped_at.pop(engine, None)
        while (claim := requests.claim(now=now)) is not None:
            assert now - stamped_at.get(claim.engine, -REFRESH_SECONDS) >= REFRESH_SECONDS
            stamped_at[claim.engine] = now
            requests.stamped(claim.engine, now=now)
        assert all(now - stamped_at[each] < REFRESH_SECONDS for each in waiting)
