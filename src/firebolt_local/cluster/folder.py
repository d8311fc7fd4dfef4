"""Which clusters are there, where do they keep their things, and which processes are theirs?

A cluster is a folder with a record in it. What is in no such folder is not ours and is never touched.
"""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from firebolt_local.cluster import processes
from firebolt_local.cluster.processes import ProcessRecord
from firebolt_local.errors import LocalError
from firebolt_local.locks import exclusive

DEFAULT_NAME = "default"
_RECORD = "cluster.json"


class Kind(StrEnum):
    NODES = "nodes"
    CONTROL_PLANE = "control-plane"
    EXISTING = "existing"


class ClusterRecord(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    kind: Kind
    simulated_pods: bool = False
    nodes: int = 0
    server: str = ""
    kubeconfig: str = ""
    is_complete: bool = False  # False: it is being started, or its start was cut short

    def is_same_kind(self, other: "ClusterRecord") -> bool:
        return (self.kind, self.simulated_pods, self.nodes) == (other.kind, other.simulated_pods, other.nodes)

    def describe(self) -> str:
        if self.kind is Kind.NODES:
            return f"{self.nodes} {'node' if self.nodes == 1 else 'nodes'}"
        return f"{self.kind}{' with simulated pods' if self.simulated_pods else ''}"


@dataclass(frozen=True, slots=True)
class ClusterFolder:
    path: Path

    def read(self) -> ClusterRecord | None:
        try:
            return msgspec.json.decode((self.path / _RECORD).read_bytes(), type=ClusterRecord)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError as err:
            raise LocalError(f"{self.path / _RECORD} is damaged ({err}); remove {self.path}") from err

    def write(self, record: ClusterRecord) -> None:
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.path / f"{_RECORD}.new"
        try:
            draft.write_bytes(msgspec.json.format(msgspec.json.encode(record)))
            draft.replace(self.path / _RECORD)
        except OSError:
            draft.unlink(missing_ok=True)
            with suppress(OSError):
                self.path.rmdir()
            raise

    def processes(self) -> dict[str, ProcessRecord]:
        return processes.read_records(self.path)

    def is_running(self) -> bool:
        found = self.processes()
        return all(record.is_alive() for record in found.values())

    def is_free(self) -> bool:
        """Nobody's things are in there."""
        return not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir()))

    def remove(self) -> None:
        """End what is recorded, then forget it: in this order, or a crash in between would orphan processes."""
        stubborn = processes.kill(list(self.processes().values()))
        if stubborn:
            raise LocalError(f"processes {[record.pid for record in stubborn]} do not end; run it again, or reboot")
        shutil.rmtree(self.path)

    @contextmanager
    def locked(self) -> Generator[None]:
        """One command at a time for one cluster."""
        try:
            with exclusive(self.path.with_name(f".{self.path.name}.lock"), when_waiting=_say_waiting):
                yield
        finally:
            with suppress(OSError):  # other clusters may live beside it
                self.path.parent.rmdir()


def state_folder() -> Path:
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "firebolt-local"


def cluster_folder(name: str, folder: Path | None) -> ClusterFolder:
    return ClusterFolder(folder.absolute() if folder else state_folder() / name)


def known_clusters() -> list[str]:
    return sorted(path.parent.name for path in state_folder().glob(f"*/{_RECORD}"))


def _say_waiting() -> None:
    print("another command works on this cluster; waiting", flush=True)
