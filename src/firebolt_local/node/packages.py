"""Which system packages does a node need that this machine lacks, and may they be installed?"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from firebolt_local.errors import LocalError

# Debian's name of each package, and the programs in it that a node runs.
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "runc": ("runc",),
    "containernetworking-plugins": (),  # looked for by its folder
    "iptables": ("iptables",),
    "nftables": ("nft",),
    "conntrack": ("conntrack",),
    "iproute2": ("ip",),
    "util-linux": ("nsenter", "unshare"),
}
CNI_FOLDERS = (Path("/usr/lib/cni"), Path("/opt/cni/bin"), Path("/usr/libexec/cni"))
_CNI_PLUGINS = ("bridge", "host-local", "loopback", "portmap")
# A root shell may lack the folders of system programs; the node's own PATH has them.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_INSTALL_SECONDS = 600


def missing_packages() -> list[str]:
    missing = [
        package
        for package, programs in PACKAGES.items()
        if any(shutil.which(program, path=SYSTEM_PATH) is None for program in programs)
    ]
    return missing if find_cni_folder() else [*missing, "containernetworking-plugins"]


def find_cni_folder() -> Path | None:
    return next((folder for folder in CNI_FOLDERS if all((folder / plugin).is_file() for plugin in _CNI_PLUGINS)), None)


def provide_packages(*, assume_yes: bool, say: Callable[[str], None]) -> None:
    """Install what is missing, after asking; does nothing on a machine that has it all."""
    missing = missing_packages()
    if not missing:
        return
    if shutil.which("apt-get") is None:
        raise LocalError(f"these are missing here: {', '.join(missing)}; install them, then try again")
    say(f"these system packages are missing and get installed with apt-get: {' '.join(missing)}")
    if not assume_yes and not _is_agreed():
        raise LocalError(f"nothing was installed; run apt-get install {' '.join(missing)} yourself, then try again")
    _install(missing)


def _is_agreed() -> bool:
    if not sys.stdin.isatty():
        raise LocalError("there is nobody here to ask; say --yes to install the packages named above")
    return input("install them now? [y/N] ").strip().lower() in {"y", "yes"}


def _install(packages: Sequence[str]) -> None:
    install = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *packages]
    done = _apt(install)
    if done.returncode != 0:
        # A fresh machine knows no packages until it has fetched their list.
        _apt(["apt-get", "update", "--quiet"])
        done = _apt(install)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise LocalError(f"apt-get could not install {' '.join(packages)} ({reason}); install them, then try again")


def _apt(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=_INSTALL_SECONDS
    )
