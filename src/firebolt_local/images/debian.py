"""How do Debian packages become files of an image, without root and without installing anything?

The machine's own apt says which packages are needed, as if nothing were installed, and fetches them. They are only
unpacked: no script of a package runs, so that the result depends on nothing but the packages.
"""

import os
import platform
import pwd
import re
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firebolt_local.errors import LocalError
from firebolt_local.images.layers import LayerWriter
from firebolt_local.images.platforms import Platform, native
from firebolt_local.programs.provision import cache_folder

_SECONDS: Final = 600
_LISTS_LAST_SECONDS: Final = 86_400
_PADDING: Final = 1 << 16
_MERGED: Final = ("bin", "sbin", "lib", "lib64")  # today these are names for folders below /usr
_UNWANTED: Final = re.compile(r"usr/share/(doc|man|info|lintian|locale|bash-completion|bug|menu)(/|$)")
_LICENCES: Final = re.compile(r"usr/share/doc(/[^/]+(/copyright)?)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """Packages by name, with what they depend on."""

    names: Sequence[str]
    without: str = r"(?!)"  # a pattern of packages that are asked for by others and of no use here
    skip: str = r"(?!)"  # a pattern of paths

    def key(self, on: Platform | None = None) -> tuple[str, ...]:
        return ("debian", release(on), *self.names, self.without, self.skip)

    def needed(self, on: Platform | None = None) -> list[str]:
        """Names of the packages that apt would fetch."""
        with tempfile.TemporaryDirectory() as folder:
            answer = _apt(Path(folder), *foreign(on), "--print-uris", "install", *self.names)
        found = (line.split()[1].partition("_")[0] for line in answer.splitlines() if line.startswith("'"))
        return sorted(name for name in found if not re.fullmatch(self.without, name))

    def unpack(self, layer: LayerWriter, *, beyond: Sequence[str] = (), on: Platform | None = None) -> None:
        """Into a layer; `beyond` names the packages that a layer below has already."""
        wanted = [name for name in self.needed(on) if name not in beyond]
        with tempfile.TemporaryDirectory() as folder:
            _apt(Path(folder), *foreign(on), "download", *wanted)
            for package in sorted(Path(folder).glob("*.deb")):
                self._unpack_one(package, layer)
                # Where images without dpkg keep it, and scanners look for it.
                layer.file(f"var/lib/dpkg/status.d/{package.name.partition('_')[0]}", _control(package))

    def _unpack_one(self, package: Path, layer: LayerWriter) -> None:
        with _contents(package) as archive:
            for member in archive:
                path = merged(member.name)
                if path and not self._is_unwanted(path):
                    if member.islnk():
                        member.linkname = merged(member.linkname)
                    layer.member(path, member, archive.extractfile(member) if member.isreg() else None)

    def _is_unwanted(self, path: str) -> bool:
        is_ballast = _UNWANTED.match(path) and not _LICENCES.fullmatch(path)
        return bool(is_ballast or re.match(self.skip, path))


def merged(path: str) -> str:
    """`./lib/x` is `usr/lib/x`, and the four old folders themselves are links that the base layer makes."""
    path = path.removeprefix("./").strip("/")
    if path == ".":
        return ""
    top, slash, _ = path.partition("/")
    if top not in _MERGED:
        return path
    return f"usr/{path}" if slash else ""


def old_folders(layer: LayerWriter) -> None:
    for name in _MERGED:
        layer.folder(f"usr/{name}")
        layer.link(name, f"usr/{name}")


def fetch_files(package: str, paths: Sequence[str], target: Path) -> None:
    """Some files of one package, by their base names, into a folder; without what the package depends on."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            _apt(Path(folder), "download", package)
        except LocalError:
            # A fresh machine knows no packages, and only root may tell it: a list of one's own does as well.
            Path(folder, "lists", "partial").mkdir(parents=True)
            own_list = ("-o", f"Dir::State::lists={folder}/lists")
            _apt(Path(folder), *own_list, "update")
            _apt(Path(folder), *own_list, "download", package)
        (archive,) = Path(folder).glob("*.deb")
        with _contents(archive) as members:
            for member in members:
                content = members.extractfile(member) if merged(member.name) in paths else None
                if content is not None:
                    path = target / Path(member.name).name
                    path.write_bytes(content.read())
                    path.chmod(member.mode)


@contextmanager
def _contents(package: Path) -> Generator[tarfile.TarFile]:
    """The files of a package, read while dpkg writes them."""
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as process,
        tarfile.open(fileobj=process.stdout, mode="r|") as archive,
    ):
        yield archive
        # To the end, padding included: dpkg-deb calls a reader that leaves early an error.
        while process.stdout and process.stdout.read(_PADDING):
            pass
    if process.returncode != 0:
        raise LocalError(f"{package.name} could not be unpacked; delete it and try again")


def _control(package: Path) -> bytes:
    """What a package says about itself."""
    return subprocess.run(["dpkg-deb", "--field", str(package)], capture_output=True, check=True).stdout


def foreign(on: Platform | None) -> list[str]:
    """For apt: the packages of another architecture, from lists of our own, which are at most a day old."""
    if on is None or on.is_native:
        return []
    lists = cache_folder() / f"apt-lists-{on.architecture}"
    words = [
        f"Dir::State::lists={lists}",
        f"APT::Architecture={on.architecture}",
        f"APT::Architectures={on.architecture}",
    ]
    options = [option for word in words for option in ("-o", word)]
    if not lists.is_dir() or time.time() - lists.stat().st_mtime > _LISTS_LAST_SECONDS:
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            _apt(Path(folder), *options, "update")
        os.utime(lists)
    return options


def _apt(folder: Path, *words: str) -> str:
    """Run apt as if nothing were installed here, with a folder of its own for whatever it writes."""
    nothing_installed = folder / "status"
    nothing_installed.touch()
    settings = {
        "Dir::State::status": nothing_installed,
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": _user(),
        "APT::Install-Recommends": "false",
        "Debug::NoLocking": "true",
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    try:
        done = subprocess.run(
            ["apt-get", "--quiet=2", *options, *words],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except FileNotFoundError as err:
        raise LocalError(
            "images are made of Debian packages, and there is no apt-get here; use Debian or Ubuntu, or the Dockerfile"
        ) from err
    if done.returncode != 0:
        raise LocalError(
            f"Debian packages could not be fetched ({_last_line(done.stderr)}); run apt-get update, then try again"
        )
    return done.stdout


def _user() -> str:
    # The folder belongs to whoever runs us, so that apt's own user could not write to it.
    return pwd.getpwuid(os.geteuid()).pw_name


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1]


def release(on: Platform | None = None) -> str:
    facts = platform.freedesktop_os_release()
    return f"{facts['ID']} {facts.get('VERSION_ID', 'unstable')} linux/{(on or native()).architecture}"
