"""An engine is made only with keys that are there, and that are the ones which the instance has recorded."""

from typing import Any

import pytest

from firebolt_operator.auth.decide.engine_gate import signing_keys_problem
from tests.support.auth import a_key, all_issued, issued_key

KEYS = (a_key(2), a_key(1, "ValidationOnly"))
NAME = "inst-auth-signing"


def test_given_all_keys_then_nothing_is_in_the_way() -> None:
    assert signing_keys_problem(KEYS, all_issued(1, 2), "ns") == ""


@pytest.mark.parametrize(
    ("secret", "problem"),
    [
        pytest.param({"filled": frozenset({"tls.crt"})}, 'is missing or empty for key "tls.key"', id="no-key"),
        pytest.param({"public_key": ""}, 'has no readable certificate in key "tls.crt"', id="unreadable"),
        pytest.param({"public_key": "other"}, "holds another key than the one that", id="made-anew"),
    ],
)
def test_given_a_key_that_is_not_right_then_it_is_named(secret: dict[str, Any], problem: str) -> None:
    issued = {**all_issued(2), NAME: issued_key(1, **secret)}
    assert signing_keys_problem(KEYS, issued, "ns").startswith(f"signing key secret ns/{NAME} {problem}")


def test_given_a_secret_that_is_gone_then_it_is_named() -> None:
    assert signing_keys_problem(KEYS, all_issued(2), "ns") == f"signing key secret ns/{NAME} not found"
