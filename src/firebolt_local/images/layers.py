"""How do files become a layer: a plain tar that is the same, byte for byte, whenever the files are?

Order, times and owners are ours. A layer is kept under its digest, so that images share it; a key remembers which
inputs led to it, so that it is made once.
"""

import hashlib
import io
import os
import shutil
import tarfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Final

_EPOCH: Final = 0
FOLDER_MODE: Final = 0o755
FILE_MODE: Final = 0o644
PROGRAM_MODE: Final = 0o755


@dataclass(frozen=True, slots=True)
class Layer:
    digest: str  # sha256:<hex> of the tar
    size: int
    path: Path

    def names(self) -> list[str]:
        with tarfile.open(self.path) as archive:
            return archive.getnames()


class LayerWriter:
    """Adds one thing after the other; folders on the way come by themselves, and a path that is there stays."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._paths: set[str] = set()

    def folder(self, path: str, *, mode: int = FOLDER_MODE, owner: int = 0) -> None:
        self._add(_info(path, tarfile.DIRTYPE, mode, owner))

    def file(self, path: str, content: bytes, *, mode: int = FILE_MODE, owner: int = 0) -> None:
        info = _info(path, tarfile.REGTYPE, mode, owner)
        info.size = len(content)
        self._add(info, io.BytesIO(content))

    def copy(self, path: str, source: Path, *, mode: int = PROGRAM_MODE) -> None:
        info = _info(path, tarfile.REGTYPE, mode, 0)
        info.size = source.stat().st_size
        with source.open("rb") as content:
            self._add(info, content)

    def link(self, path: str, target: str) -> None:
        info = _info(path, tarfile.SYMTYPE, 0o777, 0)
        info.linkname = target
        self._add(info)

    def tree(self, path: str, source: Path, *, keep: Callable[[Path], bool] = lambda _: True) -> None:
        """Everything below a folder, in the order of names."""
        for each in sorted(source.rglob("*")):
            inside = each.relative_to(source)
            if not keep(inside):
                continue
            target = f"{path}/{inside}"
            if each.is_symlink():
                self.link(target, str(each.readlink()))
            elif each.is_dir():
                self.folder(target)
            else:
                self.copy(target, each, mode=PROGRAM_MODE if os.access(each, os.X_OK) else FILE_MODE)

    def member(self, path: str, original: tarfile.TarInfo, content: IO[bytes] | None) -> None:
        """A member of another tar, under a path of our choice."""
        info = _info(path, original.type, original.mode, original.uid)
        info.gid = original.gid
        info.size = original.size if original.isreg() else 0
        info.linkname = original.linkname
        self._add(info, content)

    def _add(self, info: tarfile.TarInfo, content: IO[bytes] | None = None) -> None:
        if info.name in self._paths:
            return
        parent = os.path.dirname(info.name)  # noqa: PTH120 - a name inside a tar, not a path on this machine
        if parent and parent not in self._paths:
            self.folder(parent)
        self._paths.add(info.name)
        self._archive.addfile(info, content)


@dataclass(frozen=True, slots=True)
class LayerStore:
    folder: Path
    made_by: str = ""  # what one version of a program made is not what another would make

    def layer(self, key: Iterable[str], fill: Callable[[LayerWriter], None]) -> Layer:
        """The layer made of these inputs; `fill` runs only when there is none yet."""
        name = hashlib.sha256("\0".join(key).encode()).hexdigest()
        self._keys.mkdir(parents=True, exist_ok=True)
        os.utime(self._keys)
        return self._find(self._keys / name) or self._make(self._keys / name, fill)

    def forget_other_makers(self, *, unused_for: timedelta) -> None:
        """Remove what only other versions of this program would use, and have not used for a while."""
        for keys in self._keys.parent.iterdir():
            if keys != self._keys and time.time() - keys.stat().st_mtime > unused_for.total_seconds():
                shutil.rmtree(keys)
        needed = {key.read_text().partition(" ")[0] for key in self._keys.parent.glob("*/*")}
        for blob in self._blob("").parent.iterdir():
            if f"sha256:{blob.name}" not in needed:
                blob.unlink()

    @property
    def _keys(self) -> Path:
        return self.folder / "keys" / (self.made_by or "anybody")

    def _find(self, remembered: Path) -> Layer | None:
        if not remembered.is_file():
            return None
        digest, _, size = remembered.read_text().partition(" ")
        path = self._blob(digest)
        # A crash of the machine can leave a short file behind a rename.
        is_whole = path.is_file() and size.isdigit() and path.stat().st_size == int(size)
        return Layer(digest, int(size), path) if is_whole else None

    def _make(self, remembered: Path, fill: Callable[[LayerWriter], None]) -> Layer:
        self._blob("").parent.mkdir(parents=True, exist_ok=True)
        draft = self.folder / f"draft-{os.getpid()}"
        try:
            digest = _write(draft, fill)
            size = draft.stat().st_size
            draft.replace(self._blob(digest))
        finally:
            draft.unlink(missing_ok=True)
        # Last: a key without its layer would only cost time, a key with half a layer would be believed.
        replace_text(remembered, f"{digest} {size}")
        return Layer(digest, size, self._blob(digest))

    def _blob(self, digest: str) -> Path:
        return self.folder / "sha256" / (digest.removeprefix("sha256:") or "none")


def replace_text(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text)
    draft.replace(path)


def file_digest(path: Path) -> str:
    """What a file contributes to a key."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _write(path: Path, fill: Callable[[LayerWriter], None]) -> str:
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        fill(LayerWriter(archive))
    return f"sha256:{file_digest(path)}"


def _info(path: str, kind: bytes, mode: int, owner: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path.strip("/"))
    info.type = kind
    info.mode = mode & 0o7777
    info.uid = info.gid = owner
    info.mtime = _EPOCH
    return info


def copy_into(archive: tarfile.TarFile, name: str, source: Path) -> None:
    """A file as it is, at the top of a tar."""
    info = _info(name, tarfile.REGTYPE, FILE_MODE, 0)
    info.size = source.stat().st_size
    with source.open("rb") as content:
        archive.addfile(info, content)
