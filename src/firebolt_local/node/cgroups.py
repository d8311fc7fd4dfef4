"""Which processes are a cluster's, containers included, and how do they all end?

Everything of a cluster runs below one control group of its own. Children are born into the group of their parent, so
the kernel itself keeps the list: nothing that a container starts can be missed, and nothing else can be in it.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.cluster import processes
from firebolt_local.cluster.processes import ProcessRecord
from firebolt_local.errors import LocalError

_ROOT = Path("/sys/fs/cgroup")
_PROCESSES = "cgroup.procs"
_SYSTEM = "system"  # for our own programs; with version 2 a group holds processes or groups, not both
_V1, _V2 = "cgroup", "cgroup2"
_END_SECONDS = 20
_LOOK_AGAIN_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Hierarchy:
    folder: Path
    is_v2: bool
    controllers: frozenset[str]  # empty with version 2, which has one hierarchy for all of them


def read_hierarchies(mountinfo: str, root: Path = _ROOT) -> list[Hierarchy]:
    found: dict[Path, Hierarchy] = {}
    for line in mountinfo.splitlines():
        mount, _, source = line.partition(" - ")
        folder = Path(mount.split()[4])
        kind, _, options = source.split()[:3]
        if kind not in {_V1, _V2} or not folder.is_relative_to(root):
            continue
        controllers = frozenset(options.split(",")) - {"rw", "ro"}
        found[folder] = Hierarchy(folder, kind == _V2, frozenset() if kind == _V2 else controllers)
    return list(found.values())


def is_unified(hierarchies: Sequence[Hierarchy]) -> bool:
    """Version 2 alone; a machine with both has its controllers in version 1."""
    return bool(hierarchies) and all(each.is_v2 for each in hierarchies)


def machine_hierarchies() -> list[Hierarchy]:
    found = read_hierarchies(Path("/proc/self/mountinfo").read_text())
    if not found:
        raise LocalError(f"no control groups are mounted below {_ROOT}; containers need them")
    return found


@dataclass(frozen=True, slots=True)
class ClusterGroup:
    """The control group of one cluster, in every hierarchy that this machine has."""

    name: str
    hierarchies: Sequence[Hierarchy]

    @property
    def is_unified(self) -> bool:
        return is_unified(self.hierarchies)

    def create(self, nodes: int) -> None:
        try:
            self._create(nodes)
        except OSError as err:
            raise LocalError(
                f"no control groups can be made here ({err.strerror}: {err.filename}); "
                "a cluster with nodes needs a machine of its own, virtual or not, or a privileged container"
            ) from err

    def _create(self, nodes: int) -> None:
        (self._tracking.folder / self.name / _SYSTEM).mkdir(parents=True, exist_ok=True)
        for hierarchy in self._with_controllers():
            for number in range(1, nodes + 1):
                (hierarchy.folder / self.name / f"node-{number}").mkdir(parents=True, exist_ok=True)
        if self.is_unified:
            root = self._tracking.folder
            for folder in (root, root / self.name):
                _pass_controllers_on(folder)

    def joined(self) -> tuple[str, ...]:
        """Put before a command: it then runs in this group."""
        join = 'echo 0 >"$0" && exec "$@"'
        return ("/bin/sh", "-c", join, str(self._tracking.folder / self.name / _SYSTEM / _PROCESSES))

    def root_of(self, node: int) -> str:
        """Below this the kubelet of a node makes the groups of its pods."""
        return f"/{self.name}/node-{node}"

    def end_all(self) -> None:
        """SIGKILL, until nothing is left: somebody may be starting something while we look."""
        deadline = time.monotonic() + _END_SECONDS
        while members := self.members():
            processes.kill(members, timeout_seconds=1)
            if time.monotonic() > deadline:
                raise LocalError(f"processes {[each.pid for each in members]} do not end; run it again, or reboot")
            time.sleep(_LOOK_AGAIN_SECONDS)

    def members(self) -> list[ProcessRecord]:
        found: list[ProcessRecord] = []
        for file in (self._tracking.folder / self.name).rglob(_PROCESSES):
            for pid in _read_pids(file):
                record = processes.record_of(pid)
                # Looked at after the record was taken: a reused pid is somebody else's, and fails one of the two.
                if record and self._holds(pid) and record.is_alive():
                    found.append(record)
        return found

    def remove(self) -> None:
        deadline = time.monotonic() + _END_SECONDS
        for hierarchy in self.hierarchies:
            folder = hierarchy.folder / self.name
            while folder.exists():
                _remove_tree(folder)
                if time.monotonic() > deadline:
                    raise LocalError(f"{folder} cannot be removed; something still runs in it")

    @property
    def _tracking(self) -> Hierarchy:
        """With version 1 one of several, any of which would do."""
        by_pids = [each for each in self.hierarchies if each.is_v2 == self.is_unified and "pids" in each.controllers]
        return (by_pids or list(self.hierarchies))[0]

    def _with_controllers(self) -> list[Hierarchy]:
        return [each for each in self.hierarchies if each.is_v2 == self.is_unified]

    def _holds(self, pid: int) -> bool:
        with suppress(OSError):
            return any(
                line.partition(":")[2].partition(":")[2].startswith(f"/{self.name}/")
                for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()
            )
        return False


def _read_pids(file: Path) -> list[int]:
    try:
        return [int(line) for line in file.read_text().split()]
    except OSError:  # the group is gone, or holds only other groups
        return []


def _pass_controllers_on(folder: Path) -> None:
    available = (folder / "cgroup.controllers").read_text().split()
    for controller in available:
        with suppress(OSError):  # one that cannot be passed on is one that pods do without
            (folder / "cgroup.subtree_control").write_text(f"+{controller}")


def _remove_tree(folder: Path) -> None:
    below = sorted((each for each in folder.rglob("*") if each.is_dir()), reverse=True)
    for each in (*below, folder):
        with suppress(OSError):
            each.rmdir()
    if folder.exists():
        time.sleep(_LOOK_AGAIN_SECONDS)
