"""Does every page have its place in the site, and does every link lead somewhere there?"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import docs_site
from scripts.docs_site import DOCS, LostLinkError, copy_of, outward_files, site_text

PAGES = sorted(DOCS.rglob("*.md"))
SITE = yaml.load((docs_site.REPOSITORY / "mkdocs.yml").read_text(), yaml.CSafeLoader)


def test_every_page_can_be_reached_from_the_navigation() -> None:
    reached: set[Path] = set()
    ahead = {DOCS / place for place in _places(SITE["nav"])}
    while ahead:
        reached |= ahead
        ahead = {linked for page in ahead for linked in _linked(page)} - reached
    assert sorted(reached) == PAGES


def test_nothing_is_fetched_from_elsewhere() -> None:
    """Diagrams in the text would be drawn by a script of a third party; pictures are files of ours."""
    assert SITE["theme"]["font"] is False
    foreign = re.compile(r"```mermaid|!\[[^]]*\]\(https?:")
    assert [page.name for page in PAGES if foreign.search(page.read_text())] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_that_leave_the_docs_lead_to_copies(page: Path) -> None:
    text = site_text(page)
    assert [target for target in outward_files(page) if str(copy_of(target)) not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_marks_for_tests_are_left_out(page: Path) -> None:
    """One in the middle of a list would end the list."""
    assert "run: " not in "".join(re.findall(r"<!--.*?-->", site_text(page)))


def test_when_a_link_leads_nowhere_then_it_says_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docs_site, "REPOSITORY", tmp_path)
    monkeypatch.setattr(docs_site, "DOCS", tmp_path / "docs")
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs/page.md"
    page.write_text("[gone](../charts/gone.yaml)")
    with pytest.raises(LostLinkError, match=r"docs/page.md: ../charts/gone.yaml is not in the repository"):
        site_text(page)


def test_a_folder_is_named_and_a_file_is_copied_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_site, "REPOSITORY", tmp_path)
    monkeypatch.setattr(docs_site, "DOCS", tmp_path / "docs")
    (tmp_path / "docs/deep").mkdir(parents=True)
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts/values.yaml").write_text("a: 1\n")
    (tmp_path / "docs/deep/page.md").write_text(
        "[charts](../../charts) [values](../../charts/values.yaml) [home](../index.md)"
    )
    docs_site.main(tmp_path / "site")
    assert (tmp_path / "site/deep/page.md").read_text() == (
        "charts (`charts/` of the repository) [values](../repository/charts/values.yaml.txt) [home](../index.md)"
    )
    assert (tmp_path / "site/repository/charts/values.yaml.txt").read_text() == "a: 1\n"


def _linked(page: Path) -> list[Path]:
    targets = [(page.parent / link).resolve() for link in re.findall(r"\]\(([\w./-]+\.md)", page.read_text())]
    return [target for target in targets if target.is_relative_to(DOCS)]


def _places(nav: list[Any]) -> list[str]:
    inner = [next(iter(entry.values())) if isinstance(entry, dict) else entry for entry in nav]
    return [place for each in inner for place in ([each] if isinstance(each, str) else _places(each))]
