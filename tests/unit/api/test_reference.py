"""Are the reference pages those of the definitions?"""

from scripts.write_reference import TARGET, reference_pages


def test_the_pages_are_up_to_date() -> None:
    pages = reference_pages()
    assert {name: (TARGET / name).read_text() for name in pages} == pages, "run scripts/write_reference.py"
