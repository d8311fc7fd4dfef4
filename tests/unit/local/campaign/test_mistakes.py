"""Can the mistakes that the judge is judged by still be planted?"""

import ast

import pytest

from firebolt_local.campaign.edits.draw import EDITS_LINE, edit_lines
from firebolt_local.campaign.edits.edit import parse_edit
from firebolt_local.campaign.faults.cases import parse_case
from tests.support.campaign.mistakes import MISTAKES, Mistake, planted


def test_there_are_ten() -> None:
    assert len({mistake.name for mistake in MISTAKES}) == 10


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name.replace(" ", "-"))
def test_it_fits_into_the_source(mistake: Mistake) -> None:
    ast.parse(planted(mistake))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name.replace(" ", "-"))
def test_its_line_is_one(mistake: Mistake) -> None:
    if mistake.line.startswith(EDITS_LINE):
        assert [str(parse_edit(line)) for line in edit_lines(mistake.line)]
    else:
        assert str(parse_case(mistake.line)) == mistake.line
