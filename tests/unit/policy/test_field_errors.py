"""How findings are put in words."""

from collections.abc import Iterator

import pytest

from firebolt_operator.policy.field_errors import (
    MAX_TEXT,
    MOST_ERRORS,
    FieldError,
    Path,
    aggregate,
    duplicate,
    first,
    forbidden,
    internal_error,
    invalid,
    not_found,
    required,
)

SPEC = Path("spec")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        pytest.param(
            forbidden(SPEC.child("template", "spec", "containers").at(0).child("command"), "is operator-owned"),
            "spec.template.spec.containers[0].command: Forbidden: is operator-owned",
            id="forbidden-carries-no-value",
        ),
        pytest.param(
            forbidden(SPEC.child("labels").at("firebolt.io/x"), "reserved"),
            "spec.labels[firebolt.io/x]: Forbidden: reserved",
            id="a-map-key-stands-in-brackets",
        ),
        pytest.param(required(SPEC, "name it"), "spec: Required value: name it", id="required-carries-no-value"),
        pytest.param(invalid(SPEC, 2, "must be 1"), "spec: Invalid value: 2: must be 1", id="integers-are-bare"),
        pytest.param(invalid(SPEC, False, "no"), "spec: Invalid value: false: no", id="booleans-are-bare"),
        pytest.param(invalid(SPEC, "64", "no"), 'spec: Invalid value: "64": no', id="strings-are-quoted"),
        pytest.param(invalid(SPEC, "größe", "no"), 'spec: Invalid value: "größe": no', id="letters-stay-readable"),
        pytest.param(invalid(SPEC, "", "no"), 'spec: Invalid value: "": no', id="an-empty-string-still-shows"),
        pytest.param(
            invalid(SPEC, {"name": "ca-2", "kind": "ClusterIssuer"}, "no"),
            'spec: Invalid value: {"name":"ca-2","kind":"ClusterIssuer"}: no',
            id="objects-are-compact-json",
        ),
        pytest.param(duplicate(SPEC, "engine"), 'spec: Duplicate value: "engine"', id="duplicate-has-no-detail"),
        pytest.param(not_found(SPEC, "gone"), 'spec: Not found: "gone"', id="not-found-has-no-detail"),
        pytest.param(internal_error(SPEC, "timeout"), "spec: Internal error: timeout", id="internal-error"),
    ],
)
def test_text_of_one_error(error: FieldError, expected: str) -> None:
    assert str(error) == expected


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        pytest.param([], "", id="nothing-wrong-is-no-text"),
        pytest.param([forbidden(SPEC, "a")], "spec: Forbidden: a", id="one-stands-alone"),
        pytest.param(
            [forbidden(SPEC, "b"), forbidden(SPEC, "a")],
            "[spec: Forbidden: b, spec: Forbidden: a]",
            id="several-are-bracketed-in-the-order-found",
        ),
        pytest.param(
            [forbidden(SPEC, "b"), forbidden(SPEC, "a"), forbidden(SPEC, "b")],
            "[spec: Forbidden: b, spec: Forbidden: a]",
            id="a-repeated-message-keeps-its-first-place",
        ),
        pytest.param(
            [forbidden(SPEC, "a"), forbidden(SPEC, "a")], "spec: Forbidden: a", id="one-message-twice-stands-alone"
        ),
    ],
)
def test_aggregate(errors: list[FieldError], expected: str) -> None:
    assert aggregate(errors) == expected


def test_given_more_messages_than_fit_then_whole_ones_are_kept_and_the_rest_is_counted() -> None:
    errors = [forbidden(SPEC.at(number), "x" * 80) for number in range(MOST_ERRORS)]
    for given, about in ((errors, "at least "), (errors[:-1], "")):
        text = aggregate(given)
        kept = text.count("Forbidden")
        assert MAX_TEXT - 2 * len(str(errors[-1])) < len(text) <= MAX_TEXT
        assert text == f"[{', '.join(map(str, errors[:kept]))}, and {about}{len(given) - kept} more]"


def test_nobody_looks_for_more_than_can_be_told() -> None:
    looked_at = list[int]()

    def found() -> Iterator[FieldError]:
        for number in range(10**6):
            looked_at.append(number)
            yield forbidden(SPEC.at(number), "x")

    assert len(first(found())) == len(looked_at) == MOST_ERRORS


def test_given_messages_of_any_length_then_the_text_is_never_too_long_and_hardly_shorter() -> None:
    for length in range(100, 160):
        text = aggregate(forbidden(SPEC.at(number), "x" * length) for number in range(200))
        assert MAX_TEXT - length - 60 < len(text) <= MAX_TEXT


def test_given_messages_that_fit_exactly_then_none_is_left_out() -> None:
    room = MAX_TEXT - len("[spec: Forbidden: a, spec: Forbidden: ]")
    text = aggregate([forbidden(SPEC, "a"), forbidden(SPEC, "b" * room)])
    assert len(text) == MAX_TEXT
    assert text.endswith("b]")


@pytest.mark.parametrize("others", [0, 3])
def test_given_one_giant_message_then_it_is_cut(others: int) -> None:
    giants = [forbidden(SPEC.at(number), "x" * MAX_TEXT) for number in range(others + 1)]
    text = aggregate(giants)
    assert text.lstrip("[").startswith("spec[0]: Forbidden: xxx")
    assert len(text) <= MAX_TEXT
    assert text.endswith("...") if not others else text.endswith("..., and 3 more]")
