"""kubectl as people use it, on the programs and the kubeconfig of a test."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from firebolt_local.programs import provision

_SECONDS = 180  # a hang; commands that wait have limits of their own


def kubectl(kubeconfig: Path, arguments: Sequence[str], *, stdin: str | None = None) -> str:
    """What it prints; raises with what it complains about."""
    program = provision.provide(["kubectl"])["kubectl"]
    cache = kubeconfig.parent / "kubectl-cache"
    command = [str(program), f"--kubeconfig={kubeconfig}", f"--cache-dir={cache}", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
