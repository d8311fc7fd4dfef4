"""May flags of every command stand anywhere?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_firebolt.arguments import hoisted


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("engine list -n ns", "-n ns engine list"),
        ("engine --context=prod list -o wide --debug", "--context=prod --debug engine list -o wide"),
        ("engine list -nns", "-nns engine list"),
        ("--kubeconfig k engine list", "--kubeconfig k engine list"),
        ("engine list -n", "-n engine list"),
        ("query e -- -n ns", "query e -- -n ns"),
        ("query e --print-commands -- -n", "--print-commands query e -- -n"),
    ],
)
def test_they_are_moved_to_the_front(typed: str, read: str) -> None:
    assert hoisted(typed.split()) == read.split()


@given(st.lists(st.sampled_from(["engine", "-n", "--namespace=a", "--debug", "-o", "x", "--", "--contexts"])))
def test_no_word_is_lost_or_made_up(typed: list[str]) -> None:
    assert sorted(hoisted(typed)) == sorted(typed)
