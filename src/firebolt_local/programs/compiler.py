"""How is Go told to build one program, and what does a failure of it mean?"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.errors import LocalError
from firebolt_local.programs.go_caches import GoCaches
from firebolt_local.programs.recipes import Project, Recipe, go_architecture

_NO_SPACE = re.compile(r"no space left on device|disk quota exceeded|file too large", re.IGNORECASE)
_NO_PROXY = re.compile(
    r"dial tcp|no such host|connection refused|i/o timeout|TLS handshake|proxyconnect|module lookup disabled"
)


@dataclass(frozen=True, slots=True)
class Compiler:
    go: Path
    project: Project
    caches: GoCaches
    turn: int  # the lock that says whose turn it is

    def compile(self, recipe: Recipe) -> Path:
        """The program, at a place where nobody looks for it."""
        # A new name each time: what a killed build may still be writing is not ours.
        output = self.caches.scratch / f"{recipe.program}.{os.getpid()}"
        log = self.caches.folder / f"{recipe.program}.log"
        command = [str(self.go), "build", *self.project.build_flags(), "-o", str(output), recipe.package]
        with log.open("wb") as sink:
            status = self._run(command, sink.fileno())
        if status != 0:
            raise _failure(recipe.program, self.caches, log)
        return output

    def environment(self) -> dict[str, str]:
        """The caller's (a proxy for modules may be set there), except for what decides about the result."""
        inherited = {name: value for name, value in os.environ.items() if name not in {"GOBIN", "GOEXPERIMENT"}}
        settings = {
            "CGO_ENABLED": "0",
            "GOOS": "linux",
            "GOARCH": go_architecture(),
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
        }
        return inherited | settings | self.caches.environment(self.go)

    def _run(self, command: Sequence[str], log: int) -> int:
        # The compilers inherit the lock: if we are killed, the next build waits until the last of them has ended.
        process = subprocess.Popen(
            [*_dying_with_us(), *command],
            cwd=self.project.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=(self.turn,),
        )
        try:
            return process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise


def _dying_with_us() -> list[str]:
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


def _failure(program: str, caches: GoCaches, log: Path) -> LocalError:
    output = log.read_text(errors="replace")
    if _NO_SPACE.search(output):
        return LocalError(
            f"no space to build {program} in {caches.cache}; "
            "free about 8 GB there, or set XDG_CACHE_HOME to a bigger disk"
        )
    if _NO_PROXY.search(output):
        return LocalError(
            f"the sources of {program} could not be fetched; connect to a Go module proxy (GOPROXY), "
            f"or set KUBEBUILDER_ASSETS to a folder that holds {program}; details are in {log}"
        )
    return LocalError(f"building {program} failed; the reason is in {log}")
