"""When an object is looked at again."""

from datetime import timedelta

import pytest

from firebolt_operator.look_again import After, AtOnce, LookAgain, WhenChanged, sooner

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
IN_ORDER: list[LookAgain] = [
    AtOnce(is_urgent=True),
    AtOnce(),
    After(timedelta(0)),
    After(SECOND),
    After(MINUTE),
    WhenChanged(),
]


@pytest.mark.parametrize("late", range(1, len(IN_ORDER)))
def test_given_two_reasons_to_look_then_the_sooner_one_counts(late: int) -> None:
    for early in range(late):
        assert sooner(IN_ORDER[early], IN_ORDER[late]) == IN_ORDER[early]
        assert sooner(IN_ORDER[late], IN_ORDER[early]) == IN_ORDER[early]
