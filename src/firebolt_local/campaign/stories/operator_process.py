"""How is the operator that is judged started, ended, stopped and let go on?"""

import os
import shlex
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

from firebolt_local.cluster import processes
from firebolt_local.cluster.processes import Launch, ProcessRecord
from firebolt_local.errors import LocalError

KUBECONFIG = "{kubeconfig}"
NAMESPACE = "{namespace}"


def command_line(template: str, *, kubeconfig: Path, namespace: str) -> list[str]:
    """The words of the command that people gave, with what belongs to this run put in."""
    if NAMESPACE not in template:
        raise LocalError(f"the command has no {NAMESPACE}: several operators run side by side, each in its own")
    return [word.replace(KUBECONFIG, str(kubeconfig)).replace(NAMESPACE, namespace) for word in shlex.split(template)]


def _here() -> str:
    """What we import, from wherever the process is started; a command that begins with `env` can say otherwise."""
    return os.pathsep.join(str(Path(path).absolute()) for path in sys.path if path)


@dataclass(slots=True)
class OperatorProcess:
    """One process at a time; whoever comes after a kill knows nothing of the one before."""

    name: str
    command: list[str]
    folder: Path
    kubeconfig: Path
    _record: ProcessRecord | None = field(default=None, init=False)

    def start(self) -> None:
        launch = Launch(
            name=self.name,
            command=self.command,
            folder=self.folder,
            environment={**os.environ, "PYTHONPATH": _here(), "KUBECONFIG": str(self.kubeconfig)},
            dies_with_parent=True,
        )
        self._record = processes.start(launch)

    def kill(self) -> None:
        """SIGKILL; returns when it is gone."""
        if self._record is not None:
            processes.kill([self._record])
            self._record = None

    def restart(self) -> None:
        self.kill()
        self.start()

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    @property
    def is_alive(self) -> bool:
        return self._record is not None and self._record.is_alive()

    @property
    def is_busy(self) -> bool:
        """It works, or would if the processor were free for it."""
        try:
            return bool(self.pid) and Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "R"
        except OSError:
            return False

    @property
    def pid(self) -> int:
        return 0 if self._record is None else self._record.pid

    @property
    def log(self) -> Path:
        return self.folder / processes.LOGS / f"{self.name}.log"

    def _signal(self, number: signal.Signals) -> None:
        if self._record is not None and self._record.is_alive():
            os.kill(self._record.pid, number)
