"""What of a Debian package gets into a layer, and where to?"""

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from firebolt_local.images.debian import Packages, fetch_files, merged
from firebolt_local.images.layers import LayerStore, LayerWriter

CONTROL = "Package: thing\nVersion: 1\nArchitecture: all\nMaintainer: us <us@localhost>\nDescription: x\n"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("./usr/bin/bash", "usr/bin/bash"),
        ("./bin/bash", "usr/bin/bash"),
        ("./lib64/ld.so", "usr/lib64/ld.so"),
        ("./library/x", "library/x"),
        ("./bin/", ""),
        ("./", ""),
        ("./.hidden", ".hidden"),
    ],
)
def test_old_folders_are_those_below_usr(path: str, expected: str) -> None:
    assert merged(path) == expected


@pytest.fixture
def package(tmp_path: Path) -> Path:
    if shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-deb is not here")
    root = tmp_path / "thing"
    files = {
        "DEBIAN/control": CONTROL,
        "bin/thing": "#!/bin/sh\n",
        "usr/share/doc/thing/copyright": "ours",
        "usr/share/doc/thing/changelog": "long",
        "usr/share/man/man1/thing.1": "longer",
        "usr/lib/thing/data": "data",
        "usr/lib/thing/skipped/data": "data",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "bin/thing").chmod(0o755)
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", root], check=True, capture_output=True)
    return root.with_suffix(".deb")


def test_programs_and_licences_are_kept_and_ballast_is_not(package: Path, tmp_path: Path) -> None:
    packages = Packages(names=["thing"], skip=r"usr/lib/thing/skipped")

    def fill(layer: LayerWriter) -> None:
        packages._unpack_one(package, layer)

    layer = LayerStore(tmp_path / "store").layer(["key"], fill)
    with tarfile.open(layer.path) as archive:
        files = {member.name: oct(member.mode) for member in archive.getmembers() if member.isfile()}
    assert files == {
        "usr/bin/thing": "0o755",
        "usr/share/doc/thing/copyright": "0o644",
        "usr/lib/thing/data": "0o644",
    }


def test_the_key_tells_apart_what_would_differ() -> None:
    keys = {
        Packages(names=["a"]).key(),
        Packages(names=["a", "b"]).key(),
        Packages(names=["a"], skip="x").key(),
        Packages(names=["a"], without="x").key(),
    }
    assert len(keys) == 4


# A machine that knows no packages until it was told where to keep a list of them.
FRESH_MACHINE = """#!/bin/sh
case "$*" in
  *"Dir::State::lists="*update) exit 0 ;;
  *"Dir::State::lists="*"download thing") cp "$DEB" . ;;
  *) echo "E: Unable to locate package thing" >&2; exit 100 ;;
esac
"""


@pytest.fixture
def fresh_machine(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "programs" / "apt-get"
    program.parent.mkdir()
    program.write_text(FRESH_MACHINE)
    program.chmod(0o755)
    monkeypatch.setenv("DEB", str(package))
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


@pytest.mark.usefixtures("fresh_machine")
def test_some_files_of_a_package_are_had_on_a_machine_that_knows_no_packages(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    fetch_files("thing", ["usr/bin/thing"], target)
    assert {path.name: (path.read_text(), oct(path.stat().st_mode & 0o777)) for path in target.iterdir()} == {
        "thing": ("#!/bin/sh\n", "0o755")
    }
