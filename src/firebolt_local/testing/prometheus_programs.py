"""Where are Prometheus and promtool? Installed, fetched before, or fetched now from Debian, without installing."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firebolt_local.images.debian import fetch_files, release
from firebolt_local.locks import exclusive
from firebolt_local.programs.build import is_program
from firebolt_local.programs.provision import cache_folder

PACKAGE: Final = "prometheus"
PROGRAMS: Final = ("prometheus", "promtool")


@dataclass(frozen=True, slots=True)
class PrometheusPrograms:
    prometheus: Path
    promtool: Path


def provide_prometheus() -> PrometheusPrograms:
    """Raises LocalError where there is no Debian to fetch it from."""
    installed = [shutil.which(name) for name in PROGRAMS]
    if all(installed):
        return PrometheusPrograms(*(Path(str(path)) for path in installed))
    folder = cache_folder() / f"{PACKAGE}-{release().replace(' ', '-').replace('/', '-')}"
    with exclusive(folder.with_name(f"{folder.name}.lock")):
        if not all(is_program(folder / name) for name in PROGRAMS):
            _fetch(folder, [f"usr/bin/{name}" for name in PROGRAMS])
    return PrometheusPrograms(*(folder / name for name in PROGRAMS))


def _fetch(folder: Path, paths: Sequence[str]) -> None:
    """By a rename: a killed fetch leaves nothing that looks finished."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as fetched:
        fetch_files(PACKAGE, paths, Path(fetched))
        folder.mkdir(exist_ok=True)
        for name in PROGRAMS:
            (Path(fetched) / name).replace(folder / name)
