"""How does the operator get onto a local cluster? With the chart that everybody uses, and one value of our own."""

import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firebolt_local.node.cluster import NodeCluster
from firebolt_local.packaged import packaged
from firebolt_local.programs.provision import provide
from firebolt_local.progress import wait_until
from firebolt_local.testing.faults import StepFailedError
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES
from firebolt_operator.refs import Manifest

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
_WAIT: Final = ("--wait", "--timeout", f"{_SECONDS - 30}s")
_HARMLESS: Final[Manifest] = {
    "apiVersion": FIREBOLT_ENGINE_CLASSES.api_version,
    "kind": FIREBOLT_ENGINE_CLASSES.kind,
    "metadata": {"name": "harmless"},
    "spec": {"template": {}},
}


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

    def install(self, *values: str) -> None:
        """Returns when the operator judges and works; does nothing to a release that is as it should be."""
        self._upgrade(values, _WAIT)
        self._wait_until_judged()

    def begin_install(self, *values: str) -> None:
        """Returns as soon as the API server has every object, whether or not any pod comes of it."""
        self._upgrade(values)

    def rollback(self) -> None:
        """To the release before."""
        self._run(self.helm, ["rollback", RELEASE, *_WAIT])
        self._wait_until_judged()

    def uninstall(self) -> None:
        self._run(self.helm, ["uninstall", RELEASE, *_WAIT])

    def restart(self) -> None:
        """For an image that has changed under the same name."""
        self._run(self.kubectl, ["rollout", "restart", _DEPLOYMENT])
        self._run(self.kubectl, ["rollout", "status", _DEPLOYMENT, f"--timeout={_SECONDS - 30}s"])
        self._wait_until_judged()

    def is_installed(self) -> bool:
        found = self._run(self.helm, ["list", "--filter", f"^{RELEASE}$", "--short"])
        return bool(found.strip())

    def _upgrade(self, values: Sequence[str], options: Sequence[str] = ()) -> None:
        words = ["upgrade", RELEASE, str(CHART), "--install", "--create-namespace"]
        settings = [word for value in (f"drainSettle={DRAIN_SETTLE}", *values) for word in ("--set", value)]
        self._run(self.helm, [*words, *settings, *options])

    def _wait_until_judged(self) -> None:
        """A pod that is ready gets the API server's questions no sooner than the node's rules know of it."""

        def is_judged() -> bool:
            command = self._command(self.kubectl, ["create", "--dry-run=server", "--filename=-"])
            return not _output(command, json.dumps(_HARMLESS)).returncode

        wait_until(is_judged, "the API server to reach the operator", _SECONDS)

    def _run(self, program: Path, words: Sequence[str]) -> str:
        command = self._command(program, words)
        done = _output(command)
        if done.returncode != 0:
            raise StepFailedError("operator", f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def _command(self, program: Path, words: Sequence[str]) -> list[str]:
        return [str(program), *words, "--namespace", NAMESPACE, "--kubeconfig", str(self.kubeconfig)]


def _output(command: Sequence[str], text: str | None = None) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired as err:
        raise StepFailedError("operator", f"not done within {_SECONDS} s: {' '.join(command)}") from err
