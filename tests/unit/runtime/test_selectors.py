"""The grammar of label selectors, and what each form matches."""

import pytest

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.runtime.selectors import parse_selector


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        pytest.param("", {}, True, id="empty-matches-everything"),
        pytest.param("  ", {"a": "b"}, True, id="blank-matches-everything"),
        pytest.param("a", {"a": ""}, True, id="exists-with-an-empty-value"),
        pytest.param("a", {"b": "1"}, False, id="exists-needs-the-key"),
        pytest.param("!example.com/managed", {}, True, id="negated-existence-matches-no-labels-at-all"),
        pytest.param("!a", {"a": "1"}, False, id="negated-existence"),
        pytest.param("a=b", {"a": "b"}, True, id="equals"),
        pytest.param("a==b", {"a": "b"}, True, id="equals-twice"),
        pytest.param(" a = b ", {"a": "b"}, True, id="blanks-do-not-matter"),
        pytest.param("a=b", {}, False, id="equals-needs-the-key"),
        pytest.param("a=", {"a": ""}, True, id="equals-the-empty-value"),
        pytest.param("a!=b", {"a": "c"}, True, id="differs"),
        pytest.param("a!=b", {}, True, id="absent-differs"),
        pytest.param("a!=b", {"a": "b"}, False, id="does-not-differ"),
        pytest.param("a in (b, c)", {"a": "c"}, True, id="in"),
        pytest.param("a in (b,c)", {"a": "d"}, False, id="not-in-the-set"),
        pytest.param("a in(b)", {"a": "b"}, True, id="in-without-a-blank"),
        pytest.param("a in ()", {"a": ""}, True, id="in-nothing-means-the-empty-value"),
        pytest.param("a notin (b,c)", {"a": "d"}, True, id="notin"),
        pytest.param("a notin (b,c)", {}, True, id="absent-is-notin"),
        pytest.param("a notin (b,c)", {"a": "b"}, False, id="notin-fails"),
        pytest.param("a>1", {"a": "2"}, True, id="greater"),
        pytest.param("a>1", {"a": "1"}, False, id="greater-is-strict"),
        pytest.param("a<10", {"a": "9"}, True, id="less-compares-numbers-not-text"),
        pytest.param("a>1", {"a": "x"}, False, id="a-word-is-not-greater"),
        pytest.param("a>1", {}, False, id="absent-is-not-greater"),
        pytest.param("a=b,c", {"a": "b", "c": "1"}, True, id="comma-means-and"),
        pytest.param("a=b,!c", {"a": "b", "c": "1"}, False, id="comma-means-and-not"),
        pytest.param("in in (in)", {"in": "in"}, True, id="words-of-the-grammar-are-keys-and-values-too"),
        pytest.param("example.com/a_b.c=v", {"example.com/a_b.c": "v"}, True, id="prefixed-key"),
    ],
)
def test_selector(text: str, labels: dict[str, str], *, expected: bool) -> None:
    assert parse_selector(text).matches(labels) is expected


@pytest.mark.parametrize(
    "text",
    [
        "example.com/managed===x",
        "a=b,",
        ",a",
        "a,,b",
        "a in b",
        "a in (b",
        "a in (b c)",
        "a >",
        "a>x",
        "a!b",
        "=b",
        "!",
        "a b",
        "-a",
        "a/",
        "/a",
        "UPPER/a",
        "a/b/c",
        "a=b c",
        "a=-b",
        "a" * 64,
        "a=" + "v" * 64,
        "(a)",
        "a notin",
    ],
)
def test_given_a_typo_when_parsed_then_the_error_names_the_selector(text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_selector(text)
    assert repr(text) in str(caught.value)
