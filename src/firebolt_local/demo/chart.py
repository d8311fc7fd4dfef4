"""How does the operator get onto the demo's cluster? With the chart that everybody uses, and one value of our own."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from firebolt_local.errors import LocalError

CHART: Final = Path(__file__).resolve().parents[3] / "charts" / "firebolt-operator"
RELEASE: Final = "firebolt-operator"
NAMESPACE: Final = "firebolt-system"
DRAIN_SETTLE: Final = "8s"
WHY_SETTLE: Final = (
    f"drain settle {DRAIN_SETTLE} instead of 35s, because DNS answers of this cluster live 5 s"
    " and its gateway asks again every second"
)
_SECONDS: Final = 180


def install_operator(helm: Path, kubeconfig: Path) -> None:
    """Returns when its pod is ready; does nothing to a release that is as it should be."""
    words = ["upgrade", RELEASE, str(CHART), "--install", "--namespace", NAMESPACE, "--create-namespace"]
    values = ["--set", f"drainSettle={DRAIN_SETTLE}"]
    _helm([str(helm), *words, *values, "--wait", "--timeout", f"{_SECONDS - 30}s", "--kubeconfig", str(kubeconfig)])


def _helm(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired as err:
        raise LocalError(f"helm did not end within {_SECONDS} s: {' '.join(command)}") from err
    if done.returncode != 0:
        raise LocalError(f"helm could not install the operator: {done.stderr.strip() or done.stdout.strip()}")
