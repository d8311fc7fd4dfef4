"""How is a program built once, so that a killed build leaves nothing that looks finished?

Each pinned module has a folder in the cache, named after its fingerprint. A program appears there by a rename, when it
is complete. Go's own caches grow to gigabytes, so they are private, and removed after success; after a failure they
stay, and the next attempt goes on where the last one ended.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.errors import LocalError
from firebolt_local.locks import exclusive
from firebolt_local.programs.recipes import Companions, GoModule, Recipe, go_architecture

_NO_SPACE = re.compile(r"no space left on device|disk quota exceeded|file too large", re.IGNORECASE)
_NO_PROXY = re.compile(
    r"dial tcp|no such host|connection refused|i/o timeout|TLS handshake|proxyconnect|module lookup disabled"
)
_LIST_SECONDS = 300
_WORKSHOP = ".building"
_COMPILED, _SOURCES, _SCRATCH = "compiled", "modules", "scratch"


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where programs are built, by whom, and who is told."""

    cache: Path
    find_go: Callable[[], Path]
    say: Callable[[str, str], None]  # text, and what follows it: a progress line ends when the program is there

    def folder(self, module: GoModule) -> Path:
        return self.cache / f"{module.name}-{module.fingerprint()}"

    def find(self, recipe: Recipe) -> Path | None:
        path = self.folder(recipe.module) / recipe.program
        return path if is_program(path) else None

    def build(self, recipes: Sequence[Recipe]) -> None:
        by_module: dict[GoModule, list[Recipe]] = {}
        for recipe in recipes:
            by_module.setdefault(recipe.module, []).append(recipe)
        done = 0
        for module, group in by_module.items():
            self._build_group(module, {f"[{done + n}/{len(recipes)}]": recipe for n, recipe in enumerate(group, 1)})
            done += len(group)

    def _build_group(self, module: GoModule, group: Mapping[str, Recipe]) -> None:
        folder = self.folder(module)
        lock = folder.with_name(f"{folder.name}.lock")

        def waiting() -> None:
            self.say(f"waiting for another build of {module.name}", "\n")

        with exclusive(lock, when_waiting=waiting) as descriptor:
            missing = {label: recipe for label, recipe in group.items() if self.find(recipe) is None}
            if not missing:
                return
            workshop = folder / _WORKSHOP
            _tidy(workshop)
            go = self.find_go()
            environment = _environment(go, workshop)
            for label, recipe in missing.items():
                started_at = time.monotonic()
                self.say(f"{label} {recipe.program} ...", "")
                _build_one(_Order(go, recipe, workshop, environment, descriptor), folder / recipe.program)
                self.say(f" {time.monotonic() - started_at:.0f} s", "\n")
            shutil.rmtree(workshop)


@dataclass(frozen=True, slots=True)
class _Order:
    go: Path
    recipe: Recipe
    workshop: Path
    environment: Mapping[str, str]
    lock: int


def is_program(path: Path) -> bool:
    """A crash of the machine can leave an empty file behind a rename."""
    return path.is_file() and path.stat().st_size > 0 and os.access(path, os.X_OK)


def _tidy(workshop: Path) -> None:
    """Keep what a killed build fetched and compiled, drop what it was about to write."""
    workshop.mkdir(parents=True, exist_ok=True)
    for path in workshop.iterdir():
        if path.name in {_COMPILED, _SOURCES}:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    (workshop / _SCRATCH).mkdir()


def _build_one(order: _Order, target: Path) -> None:
    # A new name each time: what a killed build may still be writing is not ours.
    output = order.workshop / f"{order.recipe.program}.{os.getpid()}"
    log = order.workshop / f"{order.recipe.program}.log"
    command = [str(order.go), "build", *order.recipe.module.build_flags(), "-o", str(output), order.recipe.package]
    with log.open("wb") as sink:
        status = _run(command, order, sink.fileno())
    if status != 0:
        raise _failure(order, log)
    # First, so that whoever finds the program finds them as well.
    if order.recipe.module.companions is not None:
        _bring_companions(order, order.recipe.module.companions, target.parent)
    output.replace(target)


def _bring_companions(order: _Order, wanted: Companions, folder: Path) -> None:
    """Out of the sources that were just built from: those may be removed together with the workshop."""
    question = [str(order.go), "list", "-m", "-f", "{{.Dir}}", wanted.project]
    answer = subprocess.run(
        question,
        cwd=order.recipe.module.folder,
        env=dict(order.environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=_LIST_SECONDS,
    )
    sources = Path(answer.stdout.strip() or "/nonexistent")
    found = sorted(sources.glob(wanted.pattern))
    if not found:
        raise LocalError(f"{wanted.project} has no {wanted.pattern}: {answer.stderr.strip() or sources}")
    for source in found:
        shutil.copyfile(source, folder / source.name)


def _run(command: Sequence[str], order: _Order, log: int) -> int:
    # The compilers inherit the lock: if we are killed, the next build waits until the last of them has ended.
    process = subprocess.Popen(
        [*_dying_with_us(), *command],
        cwd=order.recipe.module.folder,
        env=dict(order.environment),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        pass_fds=(order.lock,),
    )
    try:
        return process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def _dying_with_us() -> list[str]:
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


def _environment(go: Path, workshop: Path) -> dict[str, str]:
    """The caller's (a proxy for modules may be set there), except for what decides about the result."""
    inherited = {name: value for name, value in os.environ.items() if name not in {"GOBIN", "GOEXPERIMENT"}}
    settings = {
        "CGO_ENABLED": "0",
        "GOOS": "linux",
        "GOARCH": go_architecture(),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "GOFLAGS": "-mod=readonly",
        "GOCACHE": str(workshop / _COMPILED),
        "GOTMPDIR": str(workshop / _SCRATCH),
    }
    if not _has_module_cache(go):
        # Whoever uses Go has its module cache, and no use for a second copy; others get no new folder at home.
        settings |= {"GOMODCACHE": str(workshop / _SOURCES), "GOFLAGS": "-mod=readonly -modcacherw"}
    return inherited | settings


def _has_module_cache(go: Path) -> bool:
    answer = subprocess.run(
        [go, "env", "GOMODCACHE"],
        capture_output=True,
        text=True,
        env={**os.environ, "GOTOOLCHAIN": "local"},
        check=False,
        timeout=60,
    )
    path = Path(answer.stdout.strip() or "/nonexistent")
    return path.is_dir() and os.access(path, os.W_OK)


def _failure(order: _Order, log: Path) -> LocalError:
    output = log.read_text(errors="replace")
    name = order.recipe.program
    if _NO_SPACE.search(output):
        return LocalError(
            f"no space to build {name} in {order.workshop.parent}; "
            "free about 8 GB there, or set XDG_CACHE_HOME to a bigger disk"
        )
    if _NO_PROXY.search(output):
        return LocalError(
            f"the sources of {name} could not be fetched; connect to a Go module proxy (GOPROXY), "
            f"or set KUBEBUILDER_ASSETS to a folder that holds {name}; details are in {log}"
        )
    return LocalError(f"building {name} failed; the reason is in {log}")
