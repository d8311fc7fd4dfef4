"""Which modules decide, and whose unit tests should notice a fault in them? The one place to mend when modules move."""

from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SOURCES = REPOSITORY / "src/firebolt_operator"
TESTS = REPOSITORY / "tests/unit"

DECIDING = {
    "policy": ["*"],
    "admission": ["decide/*", "classes", "engines", "instances", "reading"],
    "auth": ["*", "decide/*", "render/*"],
    "tls": ["*", "decide/*", "render/*"],
    "manifests": ["*"],
    "gateway": ["**/*"],
    "engineclass": ["decide/*", "reconcile", "watches"],
    "reconciling": ["inheritance", "bound_engines"],
    "engine": ["decide/*", "render/**/*", "act/*", "observe/observer", "inherited_settings", "plan", "preconditions"],
    "instance": ["decide/*", "act/*", "identity", "observe/bound_images", "observe/image_watches"],
    "wake": ["decide/*", "holds", "unwakeable"],
}
"""By room, a folder of the package: patterns of modules below it, such as `gates`, `decide/*` or `**/*`."""

TEST_ROOMS = ("api", *DECIDING)
"""Folders of unit tests that run against each mutant, where they reach it."""


def deciding(only: str) -> Iterator[Path]:
    words = only.split(",")
    for room, patterns in DECIDING.items():
        for pattern in patterns:
            found = sorted((SOURCES / room).glob(f"{pattern}.py"))
            if not found:
                raise SystemExit(f"{room}/{pattern} names no module any more: mend the list in {__file__}")
            yield from (path for path in found if any(word in name_of(path) for word in words))


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCES))


def test_folders() -> list[str]:
    return [str(TESTS.relative_to(REPOSITORY) / room) for room in TEST_ROOMS if (TESTS / room).is_dir()]


def test_folder_of(path: Path) -> str:
    """Where the tests of a module's room are, however deep the module is in it."""
    room = path.relative_to(SOURCES).parts[0]
    return f"{TESTS.relative_to(REPOSITORY) / room}/"
