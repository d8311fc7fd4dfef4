"""What do the pages of docs/ look like beside no clone of the repository?

    python -m scripts.docs_site build/docs      # what `make docs` makes the site of

In a clone, links that leave docs/ lead to files and folders of the repository. The site gets a copy of each such file,
as plain text, and says where a folder is. A link that leads nowhere ends it.
"""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent
DOCS: Final = REPOSITORY / "docs"
COPIES: Final = "repository"
LINK: Final = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#\s]*)(?:#[^)\s]*)?\)")


MARK: Final = re.compile(r"^ *<!-- (?:not )?run: .* -->\n", re.MULTILINE)
"""Which test runs a block: of no use to readers, and in the middle of a list it would end it."""


class LostLinkError(Exception):
    """A page links to what the repository does not have."""


def site_text(page: Path) -> str:
    """`page` with every link that leaves docs/ turned to what the site has, and without marks for tests."""
    return LINK.sub(lambda link: _site_link(page, link), MARK.sub("", page.read_text()))


def outward_files(page: Path) -> set[Path]:
    targets = [_target(page, link) for _, link in LINK.findall(page.read_text())]
    return {target for target in targets if target.is_file() and not target.is_relative_to(DOCS)}


def copy_of(target: Path) -> Path:
    """Browsers show plain text, and download what they do not know."""
    return Path(COPIES) / f"{target.relative_to(REPOSITORY)}.txt"


def _site_link(page: Path, link: re.Match[str]) -> str:
    words, address = link.groups()
    target = _target(page, address)
    if target.is_relative_to(DOCS):
        return link[0]
    if not target.exists():
        raise LostLinkError(f"{page.relative_to(REPOSITORY)}: {address} is not in the repository")
    if target.is_dir():
        return f"{words} (`{target.relative_to(REPOSITORY)}/` of the repository)"
    return f"[{words}]({os.path.relpath(DOCS / copy_of(target), page.parent)})"


def _target(page: Path, address: str) -> Path:
    return (page.parent / address).resolve()


def main(into: Path) -> None:
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(DOCS, into)
    for page in DOCS.rglob("*.md"):
        (into / page.relative_to(DOCS)).write_text(site_text(page))
        for target in outward_files(page):
            place = into / copy_of(target)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(target.read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
