"""Does every block of commands say which test runs it, or why none does?"""

import pytest

from tests.support.docs_blocks import Block
from tests.support.docs_marks import CONTROL_PLANE, REAL_PODS, Mark, Marked, MarkError, marked, parse


def test_every_block_that_somebody_could_type_has_a_mark() -> None:
    found = marked()
    assert len(found) > 80
    assert [str(each.block) for each in found if each.block.language != "python" and not each.script().strip()] == []


def test_most_are_run() -> None:
    found = marked()
    assert sum(bool(each.mark.places) for each in found) > 0.8 * len(found)
    assert {place for each in found for place in each.mark.places} > {CONTROL_PLANE, REAL_PODS}


@pytest.mark.parametrize(
    ("comment", "mark"),
    [
        ("<!-- run: control plane -->", Mark(frozenset({CONTROL_PLANE}))),
        ("<!-- run: control plane, real pods -->", Mark(frozenset({CONTROL_PLANE, REAL_PODS}))),
        (
            "<!-- run: real pods; NAME is a; ... is b -->",
            Mark(frozenset({REAL_PODS}), (("NAME", "a"), ("...", "b"))),
        ),
        ("<!-- run: tests/conftest.py -->", Mark(frozenset({"tests/conftest.py"}))),
        ("<!-- not run: there is no registry -->", Mark(frozenset(), reason="there is no registry")),
    ],
)
def test_a_mark_is_understood(comment: str, mark: Mark) -> None:
    assert parse(comment) == mark


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        pytest.param("", "no mark", id="nothing"),
        pytest.param("<!-- a remark -->", "no mark", id="another-comment"),
        pytest.param("<!-- run: moon -->", "moon is neither", id="an-unknown-place"),
        pytest.param("<!-- run: tests/nowhere.py -->", "tests/nowhere.py is neither", id="a-lost-test"),
        pytest.param("<!-- run: real pods; NAME -->", "is no replacement", id="half-a-replacement"),
        pytest.param("<!-- not run: no -->", "is no reason", id="no-reason"),
    ],
)
def test_what_is_no_mark_is_refused(comment: str, words: str) -> None:
    with pytest.raises(MarkError, match=words):
        parse(comment)


def test_what_a_mark_replaces_has_to_be_there() -> None:
    block = Block("page.md", 1, "", "kubectl get fireng NAME")
    assert Marked(block, parse("<!-- run: real pods; NAME is a -->")).script() == "kubectl get fireng a"
    with pytest.raises(MarkError, match=r"page\.md:1 has no 'OTHER' to replace"):
        Marked(block, parse("<!-- run: real pods; OTHER is a -->")).script()
