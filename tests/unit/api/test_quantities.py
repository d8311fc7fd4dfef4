"""What is a quantity worth, and how does Kubernetes write it?"""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.api.quantities import canonical_quantity, is_same_quantity, parse_quantity

QUANTITIES = st.from_regex(r"[+-]?[0-9]{1,12}(\.[0-9]{0,6})?([KMGTP]i|[numkMGTP]|e[+-]?[0-9])?", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0.5", Fraction(1, 2), id="a-decimal"),
        pytest.param(".5", Fraction(1, 2), id="a-decimal-without-a-whole"),
        pytest.param("500m", Fraction(1, 2), id="thousandths"),
        pytest.param(2, Fraction(2), id="a-number"),
        pytest.param("1Gi", Fraction(2**30), id="a-binary-suffix"),
        pytest.param("1.5Gi", Fraction(3 * 2**29), id="a-fraction-of-a-binary-suffix"),
        pytest.param("1E", Fraction(10**18), id="exa"),
        pytest.param("1E3", Fraction(1000), id="an-exponent"),
        pytest.param("1e-3", Fraction(1, 1000), id="a-negative-exponent"),
        pytest.param("-1k", Fraction(-1000), id="negative"),
        pytest.param("0.1n", Fraction(1, 10**9), id="finer-than-a-nano-is-rounded-up"),
        pytest.param("-0.1n", Fraction(-1, 10**9), id="finer-than-a-nano-is-rounded-away-from-zero"),
        pytest.param("1000Ei", Fraction(2**63 - 1), id="more-bytes-than-can-be-counted-are-capped"),
    ],
)
def test_values(text: int | str, expected: Fraction) -> None:
    assert parse_quantity(text) == expected


@pytest.mark.parametrize("text", ["", "a lot", "1 Gi", "1gi", "1K", "Gi", "1e", "1e1.5", "--1", "1e99", "\u0661"])
def test_malformed_quantities(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("0.5", "500m", True), ("1024Mi", "1Gi", True), (1, "1000m", True), ("1G", "1Gi", False), ("1e3", "1k", True)],
)
def test_quantities_are_compared_by_value(left: int | str, right: int | str, *, expected: bool) -> None:
    assert is_same_quantity(left, right) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5", "500m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1000", "1k"),
        ("1500", "1500"),
        ("100000m", "100"),
        ("512Ki", "512Ki"),
        ("0.5Ki", "512"),
        ("0.1Ki", "102400m"),
        ("0.9765625Ki", "1k"),
        ("0Ki", "0"),
        ("1000000e3", "1e9"),
        ("12e0", "12"),
        ("+1", "1"),
        ("-0", "0"),
        ("-1500m", "-1500m"),
        (64, "64"),
    ],
)
def test_canonical_forms(text: int | str, expected: str) -> None:
    assert canonical_quantity(text) == expected


@given(QUANTITIES)
def test_the_canonical_form_has_the_same_value_and_is_final(text: str) -> None:
    canonical = canonical_quantity(text)
    assert is_same_quantity(canonical, text)
    assert canonical_quantity(canonical) == canonical
