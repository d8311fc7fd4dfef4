"""How does Python code get into an image, compiled and for the image's own Python?

The layers are unpacked into a folder, and the Python in there runs from there, with its own C library: no root, no
container, and no matter which Python this program runs on. Byte code is part of the image because its disk is
read-only; it names no times, so that it is the same in every build.
"""

import os
import subprocess
import tarfile
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firebolt_local.errors import LocalError
from firebolt_local.images.debian_layers import PYTHON, layer_above_libc, libc_layer
from firebolt_local.images.layers import Layer, LayerStore, LayerWriter
from firebolt_local.images.platforms import Platform

PACKAGES: Final = "usr/lib/python3/dist-packages"  # where Debian's Python looks without being told
_SECONDS: Final = 900


@dataclass(frozen=True, slots=True)
class PythonRoot:
    """An unpacked image whose Python can be run."""

    folder: Path

    def run(self, *words: str, also_import_from: Sequence[Path] = ()) -> None:
        loader = self._only("usr/lib/*-linux-gnu*/ld-linux-*.so.*")
        program = self._only("usr/bin/python3.[0-9]*")
        environment = {
            **os.environ,
            "PYTHONHOME": str(self.folder / "usr"),
            "PYTHONPATH": os.pathsep.join(map(str, also_import_from)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [str(loader), "--library-path", str(loader.parent), str(program), "-s", *words]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS, cwd=self.folder
        )
        if done.returncode != 0:
            raise LocalError(f"Python packages could not be prepared ({_last_line(done.stderr)}); see the line for why")

    def compile(self, folder: Path, *, root: Path | None = None) -> None:
        """`root` is that of another image, whose Python may not run here: byte code is the same on every machine."""
        words = ("-q", "-j0", "--invalidation-mode", "unchecked-hash", "-s", str(root or self.folder), "-p", "/")
        self.run("-m", "compileall", *words, str(folder))

    def _only(self, pattern: str) -> Path:
        found = sorted(self.folder.glob(pattern))
        if not found:
            raise RuntimeError(f"no {pattern} in {self.folder}")
        return found[0]


def python_layers(store: LayerStore, on: Platform | None = None) -> list[Layer]:
    """The C library, Python, and the byte code of its standard library."""
    below = [libc_layer(store, on), layer_above_libc(store, PYTHON, on)]
    running = below if on is None or on.is_native else [libc_layer(store), layer_above_libc(store, PYTHON)]

    def fill(layer: LayerWriter) -> None:
        with python_root(running) as root, python_root(below) as image:
            library = next(image.folder.glob("usr/lib/python3.[0-9]*"))
            root.compile(library, root=image.folder)
            inside = library.relative_to(image.folder)
            layer.tree(str(inside), library, keep=lambda path: "__pycache__" in path.parts)

    return [*below, store.layer(("byte code", *(each.digest for each in below)), fill)]


@contextmanager
def python_root(layers: Sequence[Layer]) -> Generator[PythonRoot]:
    with tempfile.TemporaryDirectory() as folder:
        for layer in layers:
            with tarfile.open(layer.path) as archive:
                archive.extractall(folder, filter="tar")
        yield PythonRoot(Path(folder))


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1]
