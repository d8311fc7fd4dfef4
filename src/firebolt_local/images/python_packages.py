"""How do locked Python packages, and our own, become a layer?"""

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from firebolt_local.errors import LocalError
from firebolt_local.images.layers import Layer, LayerStore, LayerWriter, file_digest
from firebolt_local.images.platforms import Platform
from firebolt_local.images.python_root import PACKAGES, python_root
from firebolt_local.packaged import packaged

_SECONDS: Final = 900
# RECORD names files of this very machine, and is for uninstalling; the other two are for nobody.
_UNUSED: Final = re.compile(r"(^|/)(tests?|bin)(/|$)|\.dist-info/(RECORD|INSTALLER|REQUESTED)$")


def locked(file: str) -> dict[str, str]:
    """Each package of a lock file with its hashes."""
    text = packaged("firebolt_local.images", "requirements", file).read_text()
    blocks = re.split(r"^(?=\S)", text, flags=re.MULTILINE)
    return {re.split(r"[=;\s]", block, maxsplit=1)[0]: block for block in blocks if block.strip()}


def beyond(packages: Mapping[str, str], below: Mapping[str, str]) -> dict[str, str]:
    """What a layer has to add to the one below it."""
    differing = [name for name, block in below.items() if packages.get(name, block) != block]
    if differing:
        raise LocalError(f"the lock files disagree about {', '.join(differing)}; run make lock")
    return {name: block for name, block in packages.items() if name not in below}


def packages_layer(
    store: LayerStore, python: Sequence[Layer], packages: Mapping[str, str], on: Platform | None = None
) -> Layer:
    """`python` runs here; what it installs may be for another machine."""
    is_native = on is None or on.is_native
    tags = [] if on is None or is_native else [word for tag in on.wheel_tags() for word in ("--platform", tag)]
    requirements = "".join(packages.values())

    def fill(layer: LayerWriter) -> None:
        with python_root(python) as root, tempfile.TemporaryDirectory() as folder:
            wanted = Path(folder) / "requirements.txt"
            wanted.write_text(requirements)
            target = root.folder / PACKAGES
            words = ("--quiet", "--require-hashes", "--no-deps", "--no-compile", "--only-binary=:all:")
            root.run(
                *("-m", "pip", "install", *words, *tags, "--target", str(target), "-r", str(wanted)),
                also_import_from=[_pip()],
            )
            root.compile(target)
            layer.tree(PACKAGES, target, keep=lambda path: not _UNUSED.search(str(path)))

    return store.layer(("python packages", requirements, *tags, *(each.digest for each in python)), fill)


def source_layer(store: LayerStore, python: Sequence[Layer], package: str, patterns: Iterable[str]) -> Layer:
    """Parts of a package of our own."""
    folder = packaged(package)
    paths = sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
    sources = {Path(package) / path.relative_to(folder): path for path in paths if "__pycache__" not in path.parts}

    def fill(layer: LayerWriter) -> None:
        with python_root(python) as root:
            target = root.folder / PACKAGES
            for name, source in sources.items():
                copy = target / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(source.read_bytes())
            root.compile(target)
            layer.tree(PACKAGES, target)

    contents = (f"{name} {file_digest(source)}" for name, source in sources.items())
    return store.layer(("sources", *contents, *(each.digest for each in python)), fill)


@contextmanager
def fetched(package: str) -> Generator[Path]:
    """One locked package as the file that the index has, for this machine."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text(package)
        words = ("--quiet", "--require-hashes", "--no-deps", "--only-binary=:all:", "--dest", folder, "-r", str(wanted))
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
        if done.returncode != 0:
            raise LocalError(f"{package.split(maxsplit=1)[0]} could not be fetched from the Python package index")
        yield next(Path(folder).glob("*.whl"))


def _pip() -> Path:
    if importlib.util.find_spec("pip") is None:
        raise LocalError("images need pip to fetch Python packages; install it for the Python that runs firebolt-local")
    return packaged("pip").parent
