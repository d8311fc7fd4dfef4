"""Where are the programs that a cluster is made of?"""

import os
from collections.abc import Iterable
from pathlib import Path

from firebolt_local.errors import LocalError

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
SIMULATED_PODS = ("kwok",)


def locate(names: Iterable[str]) -> dict[str, Path]:
    folder = Path(os.environ.get(ASSETS_VARIABLE, "/nonexistent"))
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise LocalError(f"set {ASSETS_VARIABLE} to a folder that holds {', '.join(missing)}")
    return {name: folder / name for name in names}
