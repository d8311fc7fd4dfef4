"""Are answers counted in the second in which they ended, and percentiles what they are called?"""

import pytest

from kubectl_firebolt.picture.answers import Answer, Second, Totals, by_second, percentile, spoken, totals


def an_answer(due_at: float, seconds: float = 0.1, *, problem: str = "", pod: str = "a") -> Answer:
    return Answer(due_at=due_at, seconds=seconds, status=200, pod=pod, problem=problem)


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        pytest.param(0.5, 50, id="half-are-not-slower"),
        pytest.param(0.99, 99, id="one-in-a-hundred-is-slower"),
        pytest.param(1.0, 100, id="none-is-slower"),
    ],
)
def test_percentile(share: float, expected: float) -> None:
    assert percentile(list(range(100, 0, -1)), share) == expected


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0044, "4.4 ms"), (0.0096, "9.6 ms"), (0.012, "12 ms"), (0.9, "900 ms"), (6.24, "6.2 s")]
)
def test_times_are_spoken_as_people_do(seconds: float, words: str) -> None:
    assert spoken(seconds) == words


def test_the_percentile_of_one_is_that_one() -> None:
    assert percentile([7.0], 0.01) == 7.0


def test_seconds_are_grouped_and_empty_ones_left_out() -> None:
    answers = [an_answer(0.95), an_answer(1.5, pod="b"), an_answer(1.6, 0.3), an_answer(3.2, problem="HTTP 503")]
    assert by_second(answers, lambda answer: answer.pod) == [
        Second(at=1, by_group={"a": 2, "b": 1}, failed=0, p50=0.1, p99=0.3),
        Second(at=3, by_group={}, failed=1, p50=None, p99=None),
    ]


def test_totals_measure_only_good_answers() -> None:
    answers = [an_answer(0, 0.1), an_answer(0, 0.2), an_answer(0, 60, problem="timeout")]
    assert totals(answers) == Totals(queries=3, failed=1, p50=0.1, p99=0.2, longest=0.2)
    assert str(totals(answers)) == "3 queries, 1 failed, p50 100 ms, p99 200 ms, longest 200 ms"


def test_totals_of_nothing_are_zero() -> None:
    assert totals([]) == Totals(queries=0, failed=0, p50=0, p99=0, longest=0)
