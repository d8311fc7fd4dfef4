"""Where does Go come from when PATH has none, or an old one?"""

import shutil
from pathlib import Path

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.programs.toolchain import find_go


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of our own."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"INDEX_URL": "http://127.0.0.1:1/simple", "RETRIES": "0", "NO_INPUT": "1"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")


def a_go(folder: Path, version: str) -> Path:
    go = folder / "go"
    go.write_text(f"#!/bin/sh\necho go version {version} linux/amd64\n")
    go.chmod(0o755)
    return go


@pytest.mark.usefixtures("no_index")
@pytest.mark.parametrize("version", ["go1.26.3", "go1.26.10", "go1.27.3", "go2.0", "devel go1.28-abcdef"])
def test_given_a_new_go_on_path_then_it_is_used(tmp_path: Path, path: Path, version: str) -> None:
    go = a_go(path, version)
    assert find_go(tmp_path / "cache", print) == go


@pytest.mark.usefixtures("no_index")
@pytest.mark.parametrize("version", ["go1.25.9", "go1.26.2", "go1.26", "go1.9", None])
def test_given_no_new_go_and_no_index_then_both_ways_out_are_named(
    tmp_path: Path, path: Path, version: str | None
) -> None:
    if version:
        a_go(path, version)
    with pytest.raises(LocalError, match=r"Go 1\.26\.3 or newer is needed .* put a newer go on PATH or connect"):
        find_go(tmp_path / "cache", lambda _text: None)
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.usefixtures("path")
def test_given_an_installed_one_then_it_is_used_again(tmp_path: Path) -> None:
    installed = tmp_path / "cache" / "go-1.27.3" / "go" / "bin"
    installed.mkdir(parents=True)
    go = a_go(installed, "go1.27.3")
    assert find_go(tmp_path / "cache", print) == go


@pytest.mark.usefixtures("path", "no_index")
def test_given_an_installation_that_was_killed_then_it_is_done_again(tmp_path: Path) -> None:
    half = tmp_path / "cache" / ".go-1.27.3-abc" / "package" / "go" / "bin"
    half.mkdir(parents=True)
    a_go(half, "go1.27.3")
    with pytest.raises(LocalError):
        find_go(tmp_path / "cache", lambda _text: None)
    assert not half.exists()
    assert shutil.which("go") is None
