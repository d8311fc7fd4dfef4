"""Is exactly what is missing named, and nothing installed that nobody agreed to?"""

import io
import os
import stat
from pathlib import Path

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.node import packages


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has an apt-get, which only writes down what it is asked, and nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    _program(folder / "apt-get", f'#!/bin/sh\necho "$@" >>{tmp_path}/asked\n')
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(packages, "SYSTEM_PATH", str(folder))
    monkeypatch.setattr(packages, "CNI_FOLDERS", (tmp_path / "cni",))
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    return tmp_path


def _program(path: Path, text: str = "") -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def _install_everything_but_nft(machine: Path) -> None:
    for program in ("runc", "iptables", "conntrack", "ip", "nsenter", "unshare"):
        _program(machine / "bin" / program)
    for plugin in ("bridge", "host-local", "loopback", "portmap"):
        _program(machine / "cni" / plugin)


def test_given_a_bare_machine_then_every_package_is_missing(machine: Path) -> None:
    assert machine.is_dir()
    assert set(packages.missing_packages()) == set(packages.PACKAGES)


def test_given_one_is_missing_then_only_that_is_installed(machine: Path) -> None:
    _install_everything_but_nft(machine)
    said: list[str] = []
    packages.provide_packages(assume_yes=True, say=said.append)
    assert said == ["these system packages are missing and get installed with apt-get: nftables"]
    assert (machine / "asked").read_text() == "install --yes --quiet --no-install-recommends nftables\n"


def test_given_everything_is_there_then_nobody_is_asked(machine: Path) -> None:
    _install_everything_but_nft(machine)
    _program(machine / "bin" / "nft")
    packages.provide_packages(assume_yes=False, say=pytest.fail)
    assert not (machine / "asked").exists()


def test_given_nobody_to_ask_then_nothing_is_installed(machine: Path) -> None:
    with pytest.raises(LocalError, match="say --yes"):
        packages.provide_packages(assume_yes=False, say=print)
    assert not (machine / "asked").exists()


def test_given_it_fails_then_the_list_is_fetched_and_it_is_tried_once_more(machine: Path) -> None:
    _install_everything_but_nft(machine)
    script = f'#!/bin/sh\necho "$1" >>{machine}/asked\ntest "$1" = update || {{ echo "no way" >&2; exit 1; }}\n'
    _program(machine / "bin" / "apt-get", script)
    with pytest.raises(LocalError, match=r"could not install nftables \(no way\)"):
        packages.provide_packages(assume_yes=True, say=print)
    assert (machine / "asked").read_text().split() == ["install", "update", "install"]
