"""Would the end-to-end tests notice a late query? They only prove something if the arithmetic is right."""

import pytest

from kubectl_firebolt.picture.answers import Answer, generation_of_pod
from tests.e2e.counts import cut_over
from tests.e2e.informer import Switch
from tests.e2e.knocking import Knock, longest_gap

pytestmark = pytest.mark.quick


def an_answer(due_at: float, pod: str) -> Answer:
    return Answer(due_at=due_at, seconds=0.1, status=200, pod=pod)


@pytest.mark.parametrize(
    ("pod", "generation"),
    [
        pytest.param("sales-g12-0", 12, id="of-an-engine"),
        pytest.param("my-g1-engine-g3-1", 3, id="of-an-engine-with-a-confusing-name"),
        pytest.param("", None, id="no-answer"),
    ],
)
def test_generation_of(pod: str, generation: int | None) -> None:
    assert generation_of_pod(pod) == generation


def test_given_two_switches_when_an_old_generation_answers_late_then_the_worst_lag_counts() -> None:
    switches = [Switch(10.0, "sales", 1), Switch(30.0, "sales", 2)]
    answers = [an_answer(9.0, "sales-g0-0"), an_answer(12.5, "sales-g0-1"), an_answer(31.0, "sales-g1-0")]
    assert cut_over(answers, switches) == 2.5
    assert cut_over(answers[:1], switches) == -1.0


def test_given_no_switch_when_counted_then_there_is_no_lag() -> None:
    assert cut_over([an_answer(9.0, "sales-g0-0")], []) is None


@pytest.mark.parametrize(
    ("let_in", "gap"),
    [
        pytest.param([True, True], 0.0, id="nobody-is-refused"),
        pytest.param([True, False, False, True, False, True], 2.0, id="the-longer-of-two"),
        pytest.param([True, False, False, False], 2.0, id="to-the-end"),
    ],
)
def test_gap_of_writes(let_in: list[bool], gap: float) -> None:
    knocks = [Knock(float(at), at + 0.5, "" if is_let_in else "refused") for at, is_let_in in enumerate(let_in)]
    assert longest_gap(reversed(knocks)) == gap
