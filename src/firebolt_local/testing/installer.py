"""How does the operator get onto a local cluster? With the chart that everybody uses, and two values of our own."""

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firebolt_local.node.cluster import NodeCluster
from firebolt_local.packaged import packaged
from firebolt_local.programs.provision import provide
from firebolt_local.testing.faults import StepFailedError

CHART: Final = packaged("firebolt_local.testing", "chart")
RELEASE: Final = "firebolt-operator"
NAMESPACE: Final = "firebolt-system"
DRAIN_SETTLE: Final = "8s"
WHY_SETTLE: Final = (
    f"drain settle {DRAIN_SETTLE} instead of 35s, because DNS answers of this cluster live 5 s"
    " and its gateway asks again every second"
)
_DEPLOYMENT: Final = f"deployment/{RELEASE}"
_SECONDS: Final = 180


@dataclass(frozen=True, slots=True)
class Installer:
    helm: Path
    kubectl: Path
    kubeconfig: Path

    @classmethod
    def for_cluster(cls, cluster: NodeCluster) -> "Installer":
        found = provide(["helm", "kubectl"])
        return cls(found["helm"], found["kubectl"], cluster.kubeconfig)

    def bring_up_to_date(self, loaded: Iterable[Path]) -> None:
        """Install, and replace the pod of an earlier release whose image was among the archives just loaded."""
        is_old = self.is_installed() and any(path.stem == "operator" for path in loaded)
        self.install()
        if is_old:
            self.restart()

    def install(self) -> None:
        """Returns when the operator's pod is ready; does nothing to a release that is as it should be."""
        words = ["upgrade", RELEASE, str(CHART), "--install", "--create-namespace"]
        # Whoever kills the operator here goes on writing engines meanwhile, which nobody can while webhooks are on.
        values = ["--set", f"drainSettle={DRAIN_SETTLE}", "--set", "webhook.enabled=false"]
        self._run(self.helm, [*words, *values, "--wait", "--timeout", f"{_SECONDS - 30}s"])

    def restart(self) -> None:
        """For an image that has changed under the same name."""
        self._run(self.kubectl, ["rollout", "restart", _DEPLOYMENT])
        self._run(self.kubectl, ["rollout", "status", _DEPLOYMENT, f"--timeout={_SECONDS - 30}s"])

    def is_installed(self) -> bool:
        found = self._run(self.helm, ["list", "--filter", f"^{RELEASE}$", "--short"])
        return bool(found.strip())

    def _run(self, program: Path, words: Sequence[str]) -> str:
        command = [str(program), *words, "--namespace", NAMESPACE, "--kubeconfig", str(self.kubeconfig)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        except subprocess.TimeoutExpired as err:
            raise StepFailedError("operator", f"not done within {_SECONDS} s: {' '.join(command)}") from err
        if done.returncode != 0:
            raise StepFailedError("operator", f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout
