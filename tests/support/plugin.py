"""kubectl firebolt as people run it: a process of its own, with a kubectl on its PATH."""

import io
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import pytest

from firebolt_operator.refs import Manifest
from kubectl_firebolt.main import main

_SECONDS = 120
_SOURCES = Path(__file__).parents[2] / "src"


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Plugin:
    kubectl: Path
    namespace: str = ""
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "kubectl_firebolt", *self._where(), *arguments]

    def variables(self) -> dict[str, str]:
        folders = f"{self.kubectl.parent}:{os.environ['PATH']}"
        plain = {"COLUMNS": "120", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb"}
        return os.environ | {"PATH": folders, "PYTHONPATH": str(_SOURCES)} | plain | self.environment

    def run(self, *arguments: str, stdin: str | None = None) -> Done:
        done = subprocess.run(
            self.command(*arguments),
            input=stdin,
            env=self.variables(),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def says(self, *arguments: str, stdin: str | None = None) -> str:
        """What it prints when all is well."""
        done = self.run(*arguments, stdin=stdin)
        assert done.code == 0, done.stderr
        return done.stdout

    def refuses(self, *arguments: str) -> str:
        """What it complains about; nothing else is printed."""
        done = self.run(*arguments)
        assert (done.code, done.stdout) == (1, "")
        assert done.stderr.startswith("error: ")
        assert "Traceback" not in done.stderr
        return done.stderr.removeprefix("error: ").rstrip("\n")

    def _where(self) -> list[str]:
        return ["-n", self.namespace] if self.namespace else []


@dataclass(frozen=True, slots=True)
class PluginHere(Plugin):
    """The same in this process, which need not start for it."""

    patch: pytest.MonkeyPatch = field(kw_only=True)
    captured: pytest.CaptureFixture[str] = field(kw_only=True)

    def run(self, *arguments: str, stdin: str | None = None) -> Done:
        self.captured.readouterr()
        with self.patch.context() as patch:
            for name, value in self.variables().items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["kubectl-firebolt", *self._where(), *arguments])
            patch.setattr(sys, "stdin", io.StringIO(stdin or ""))
            code = _exit_code(main)
        told = self.captured.readouterr()
        return Done(code, told.out, told.err)


def _exit_code(program: Callable[[], NoReturn]) -> int:
    before = signal.getsignal(signal.SIGTERM)
    try:
        program()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    finally:
        signal.signal(signal.SIGTERM, before)


def played_kubectl(folder: Path, *rules: tuple[str, str]) -> Path:
    """A kubectl that plays: the first rule whose words are all among its arguments says what the shell does."""
    program = folder / "kubectl"
    cases = "".join(f'case "$*" in *{shlex.quote(words)}*) {body} ;; esac\n' for words, body in rules)
    note = f'printf "%s\\n" "$*" >> {shlex.quote(str(folder / "asked"))}\n'
    program.write_text(f'#!/bin/sh\n{note}{cases}echo "unexpected: $*" >&2\nexit 3\n')
    program.chmod(0o755)
    return program


def asked(kubectl: Path) -> list[str]:
    """What the played kubectl was asked for, in order."""
    notes = kubectl.with_name("asked")
    return notes.read_text().splitlines() if notes.exists() else []


def an_engine(name: str = "e1", *, spec: Manifest | None = None, status: Manifest | None = None) -> Manifest:
    """As kubectl prints it."""
    return {
        "apiVersion": "compute.firebolt.io/v1alpha1",
        "kind": "FireboltEngine",
        "metadata": {"name": name, "namespace": "ns", "uid": f"uid-{name}", "generation": 3},
        "spec": {"instanceRef": "i1", "replicas": 2} | (spec or {}),
        "status": status if status is not None else a_resting_status(),
    }


def a_resting_status(**fields: object) -> Manifest:
    ready = a_condition("Ready", "True", "EngineReady", "Engine is serving traffic on generation 0")
    status = {"currentGeneration": 0, "activeGeneration": 0, "phase": "stable", "observedGeneration": 3}
    return status | {"conditions": [ready], "replicas": 2, "readyReplicas": 2} | fields


def a_condition(kind: str, status: str, reason: str, message: str) -> Manifest:
    at = "2026-05-01T12:00:00Z"
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}
