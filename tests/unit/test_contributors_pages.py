"""Do the pages for contributors lead anywhere? Every path of the map exists, and defines what it is named for."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text()
MAP = TEXT[TEXT.index("## How the code") : TEXT.index("## What a change needs")]
SOURCES = REPOSITORY / "src/firebolt_operator"
PATH = r"[\w./-]*(?:/|\.(?:py|md|lua|yaml|sh))"
PATHS = sorted(set(re.findall(rf"`({PATH}[\w./-]*)`", MAP)))
SYMBOLS = sorted(set(re.findall(rf"`({PATH})` \(`(\w+)`\)", MAP)))
ROOMS = frozenset({"observe/", "decide/", "render/", "act/", "envoy/"})
OF_THE_PLUGIN = frozenset({"commands/", "explain/", "kubectl/", "picture/", "query/", "status/"})
OF_THE_LOCAL_CLUSTER = frozenset(
    {"cluster/", "node/", "programs/", "images/", "standins/", "testing/", "demo/", "campaign/"}
)
RELATIVE = (
    ROOMS
    | OF_THE_LOCAL_CLUSTER
    | OF_THE_PLUGIN
    | {"lifecycle.py", "reconcile.py", "config_map.py", "services.py", "statefulset.py"}
)


def place_of(path: str) -> Path:
    is_ours = (SOURCES / path).exists()
    return (SOURCES if is_ours else REPOSITORY) / path


@pytest.mark.parametrize("path", [each for each in PATHS if each not in RELATIVE])
def test_a_path_leads_somewhere(path: str) -> None:
    assert place_of(path).exists()


@pytest.mark.parametrize("name", sorted(RELATIVE))
def test_what_is_named_without_its_room_is_in_some_room(name: str) -> None:
    assert any(REPOSITORY.glob(f"src/**/{name}"))


@pytest.mark.parametrize(("path", "symbol"), SYMBOLS)
def test_a_name_is_defined_where_the_map_says(path: str, symbol: str) -> None:
    source = place_of(path).read_text()
    assert re.search(rf"^\s*(?:async )?(?:def|class) {symbol}\b|^{symbol}\b.*=", source, re.MULTILINE)


def test_links_to_decisions_lead_somewhere() -> None:
    pages = [REPOSITORY / "CONTRIBUTING.md", *REPOSITORY.glob("docs/adr/*.md")]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([\w./-]+)\)", page.read_text())]
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []
    decisions = {page.name for page in REPOSITORY.glob("docs/adr/0*.md")}
    assert decisions == {link for page, link in links if page.name == "README.md"}


def test_the_page_on_end_to_end_tests_names_them_all() -> None:
    page = (REPOSITORY / "docs/dev/end-to-end.md").read_text()
    assert [path.name for path in REPOSITORY.glob("tests/e2e/test_*.py") if f"| `{path.name}` |" not in page] == []


def test_every_promise_about_security_is_held_by_tests_that_exist() -> None:
    page = (REPOSITORY / "docs/dev/security-properties.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| S")]
    held = [re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row) for row in rows]
    assert [row.split()[1] for row in rows] == [f"S{number}" for number in range(1, 22)]
    assert all(held)
    for path, name in [each for row in held for each in row]:
        assert f"def {name}(" in (REPOSITORY / path).read_text(), f"{path} has no {name}"


def test_the_map_is_one() -> None:
    rows = [line for line in MAP.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) > 80
    assert len(SYMBOLS) > 30


def test_every_package_has_a_row() -> None:
    packages = {path.parent.name for path in SOURCES.glob("*/__init__.py")}
    table = MAP[: MAP.index("## Where is it?")]
    assert {name for name in packages if f"`{name}/`" not in table} == set()
