"""Who keeps a node's namespaces open, and which folders are the node's own in there?

The pause process makes them its own and then sleeps. No name, no mount on the host: when the last process of a node has
ended, its network, its mounts and the host's end of the way into it are gone, however they ended. Run as
`python -m firebolt_local.node.namespaces FOLDER`, in new namespaces.

Kubelet, containerd and CNI plugins write to fixed places below /run, /var/lib and /var/log. In the node's mount
namespace these are covered: what the host has there stays visible, what a node makes there is only its own. The same
goes for the settings of the kernel that a kubelet changes for the whole machine: here it changes a copy.
"""

import ctypes
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

READY_FILE = "namespaces.ready"
# What the host unmounts goes here too, or we would keep its disks busy; what is mounted here stays here.
NEW_NAMESPACES = ("unshare", "--net", "--mount", "--propagation", "slave", "--")
VOLUMES = Path("/var/lib/firebolt-local-volumes")
CONTAINERD_SOCKET = Path("/run/containerd/containerd.sock")
# By folder: names that are the node's own, and where below the node's folder they are kept (None: in memory).
_OWN: Mapping[str, Mapping[str, str | None]] = {
    "/run": {"containerd": None, "netns": None, "nri": None, "flannel": None},
    "/var/lib": {"kubelet": "kubelet", "cni": "cni", VOLUMES.name: "volumes"},
    "/var/log": {"pods": "pod-logs", "containers": "container-logs"},
}
_KERNEL_SETTINGS = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)
_BIND, _RECURSIVE, _SHARED = 0x1000, 0x4000, 1 << 20  # MS_BIND, MS_REC, MS_SHARED
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(folder: Path) -> None:
    _make_own(folder)
    (folder / READY_FILE).touch()
    os.execvp("sleep", ["sleep", "infinity"])


def _make_own(folder: Path) -> None:
    """Inside the node's mount namespace; `folder` is where the node keeps its things."""
    for parent, names in _OWN.items():
        _cover(Path(parent), set(names))
        for name, kept in names.items():
            own = Path(parent) / name
            own.mkdir()
            if kept:
                backing = folder / kept
                backing.mkdir(parents=True, exist_ok=True)
                _bind(str(backing), own)
    _copy_kernel_settings(folder / "kernel-settings")
    # Volumes that are mounted after a container has started must reach it; this ends at the namespace's border.
    _mount(None, Path("/"), None, _RECURSIVE | _SHARED)


def _cover(parent: Path, own: set[str]) -> None:
    descriptor = os.open(parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        covered = Path(f"/proc/self/fd/{descriptor}")
        entries = sorted(entry for entry in covered.iterdir() if entry.name not in own)
        _mount("tmpfs", parent, "tmpfs", 0, "mode=0755")
        for entry in entries:
            _bring_back(entry, parent / entry.name)
    finally:
        os.close(descriptor)


def _bring_back(covered: Path, place: Path) -> None:
    try:
        mode = covered.lstat().st_mode
    except FileNotFoundError:  # it came and went
        return
    if stat.S_ISLNK(mode):
        place.symlink_to(covered.readlink())
        return
    if stat.S_ISDIR(mode):
        place.mkdir()
    else:
        place.touch()
    _bind(str(covered), place)


def _copy_kernel_settings(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in _KERNEL_SETTINGS:
        setting = Path("/proc/sys") / name
        if not setting.exists():
            continue
        copy = folder / name.replace("/", ".")
        copy.write_text(setting.read_text())
        _bind(str(copy), setting)


def _bind(source: str, target: Path) -> None:
    _mount(source, target, None, _BIND | _RECURSIVE)


def _mount(source: str | None, target: Path, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [None if text is None else text.encode() for text in (source, str(target), kind, options)]
    if _LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
