"""Where somebody sits who follows the pages: the files of the repository, programs on PATH, and one cluster."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firebolt_local.programs import provision
from tests.support.docs_blocks import REPOSITORY
from tests.support.docs_marks import Marked

NAMESPACE: Final = "firebolt"
_LEFT_AT_HOME: Final = frozenset({".git", "build", "dist"})
# A failure in the middle of a script or a pipe is one. Only grep may come home with nothing: that is an answer.
_STRICT: Final = 'set -eu -o pipefail\ngrep() { command grep "$@" || test $? -eq 1; }\n'
_PLUGIN: Final = '#!/bin/sh\nexec {python} -m kubectl_firebolt "$@"\n'
# People type slower than a port is forwarded, and look at the status of an answer.
_CURL: Final = "silent\nshow-error\nfail-with-body\nretry-connrefused\nretry = 20\nretry-delay = 1\nmax-time = 60\n"
_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class Desk:
    folder: Path

    @classmethod
    def prepare(cls, folder: Path, kubeconfig: Path) -> "Desk":
        """The namespace of the pages is the current one, as after `kubectl config set-context`."""
        desk = cls(folder)
        for place in (desk.programs, desk.files):
            place.mkdir(parents=True)
        for name, program in provision.provide(["kubectl", "helm"]).items():
            (desk.programs / name).symlink_to(program)
        plugin = desk.programs / "kubectl-firebolt"
        plugin.write_text(_PLUGIN.format(python=sys.executable))
        plugin.chmod(0o755)
        for path in REPOSITORY.iterdir():
            if path.name not in _LEFT_AT_HOME:
                (desk.files / path.name).symlink_to(path.resolve())
        (folder / ".curlrc").write_text(_CURL)
        shutil.copy(kubeconfig, desk.kubeconfig)
        desk.run(f"kubectl config set-context --current --namespace={NAMESPACE}")
        return desk

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    @property
    def files(self) -> Path:
        """Where people are when they type."""
        return self.folder / "files"

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    def follow(self, marked: Marked, **values: str) -> str:
        """What the block's commands print; `values` stand for the words that its mark put there."""
        script = marked.script()
        for name, value in values.items():
            script = script.replace(name, value)
        return self.run(script, what=str(marked.block))

    def run(self, script: str, *, what: str = "") -> str:
        # Not a pipe: what a script leaves in the background would keep that open.
        screen = self.folder / "screen"
        with (
            screen.open("w") as sink,
            subprocess.Popen(
                ["bash", "-c", _STRICT + script],
                cwd=self.files,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            ) as shell,
        ):
            try:
                code = shell.wait(_SECONDS)
            finally:
                _end_group(shell.pid)
        printed = screen.read_text()
        assert code == 0, f"{what or script} ended with {code}:\n{script}\n{printed}"
        return printed

    def _environment(self) -> dict[str, str]:
        ours = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "KUBECONFIG": str(self.kubeconfig),
            "PYTHONPATH": str(REPOSITORY / "src"),
            "NO_COLOR": "1",
            "TERM": "dumb",
        }
        # The programs and the images that were built before are at the real home.
        caches = {"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")}
        return {**os.environ, **caches, **ours}


def _end_group(leader: int) -> None:
    """What a block leaves in the background, like a port-forward."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return
