"""The charts over the life of an installation: install, upgrade, roll back, uninstall, and what stays."""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.simulated_pods import SimulatedPods
from tests.support.chart import CHART, CRDS_CHART, RELEASE, helm
from tests.support.kubectl import kubectl

SYSTEM = "firebolt-system"
DEFINITIONS = (
    "clusterfireboltengineclasses fireboltengineclasses fireboltenginepresets fireboltengines fireboltinstances"
)
LARGEST_SECRET = 1_048_576
CLASS = """
apiVersion: compute.firebolt.io/v1alpha1
kind: FireboltEngineClass
metadata: {name: small}
spec: {template: {}}
"""


class Cluster:
    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane

    def helm(self, *words: str, values: dict[str, Any] | None = None) -> str:
        done = helm(*words, "--namespace", SYSTEM, "--kubeconfig", str(self._plane.kubeconfig), values=values)
        return done.stdout if done.returncode == 0 else f"refused: {done.stderr}"

    def install(self, *words: str, values: dict[str, Any] | None = None) -> str:
        return self.helm("upgrade", "--install", "--create-namespace", *words, values=values)

    def kubectl(self, *words: str, stdin: str | None = None) -> str:
        return kubectl(self._plane.kubeconfig, words, stdin=stdin)

    def definitions(self) -> str:
        found = self.kubectl("get", "crds", "--output=jsonpath={.items[*].spec.names.plural}").split()
        return " ".join(sorted(name for name in found if "firebolt" in name))


@pytest.fixture
def cluster(fresh_control_plane: Callable[..., ControlPlane], built_programs: dict[str, Path]) -> Cluster:
    plane = fresh_control_plane(simulated_pods=True)
    SimulatedPods(plane, built_programs).start()
    return Cluster(plane)


def test_definitions_are_upgraded_and_stay_when_their_chart_goes(cluster: Cluster, tmp_path: Path) -> None:
    before = _older(tmp_path)
    first = cluster.install(RELEASE, str(before / "firebolt-operator"), values={"webhook": {"enabled": False}})
    assert "is installed" in first
    cluster.kubectl("apply", "--filename", "-", stdin=CLASS)
    # Helm leaves the definitions of the operator's chart as they are, for ever.
    cluster.install(RELEASE, str(CHART), values={"webhook": {"enabled": False}})
    assert not _knows_columns(cluster)
    # They are nobody's so far; whoever wants them upgraded takes them over, once.
    assert "refused" in cluster.install("crds", str(CRDS_CHART))
    assert "deployed" in cluster.install("crds", str(CRDS_CHART), "--take-ownership", "--wait")
    assert _knows_columns(cluster)
    assert "deployed" in cluster.install("crds", str(before / "firebolt-operator-crds"), "--wait")
    assert not _knows_columns(cluster)
    assert "deployed" in cluster.install("crds", str(CRDS_CHART), "--wait")
    assert _knows_columns(cluster)
    assert _largest_release(cluster) < LARGEST_SECRET
    assert "uninstalled" in cluster.helm("uninstall", "crds", "--wait")
    assert cluster.definitions() == DEFINITIONS
    assert cluster.kubectl("get", "firengc", "--output=name").strip().endswith("/small")
    assert "deployed" in cluster.install("crds", str(CRDS_CHART))


def test_the_operator_can_be_upgraded_rolled_back_and_removed_by_those_who_wait(cluster: Cluster) -> None:
    def waits(*words: str, values: dict[str, Any] | None = None) -> str:
        return cluster.helm(*words, "--wait", "--timeout=60s", values=values)

    assert "is installed" in waits("upgrade", "--install", "--create-namespace", RELEASE, str(CHART), values={})
    assert _replicas(cluster) == (1, 1)
    assert "is installed" in waits("upgrade", RELEASE, str(CHART), values={"replicaCount": 2, "podLabels": {"a": "b"}})
    assert _replicas(cluster) == (2, 2)
    allowed = "--output=jsonpath={.status.disruptionsAllowed}"
    assert cluster.kubectl("get", "--namespace", SYSTEM, f"pdb/{RELEASE}", allowed) == "1"
    assert "Rollback was a success" in waits("rollback", RELEASE, "1")
    assert _replicas(cluster) == (1, 1)
    assert cluster.kubectl("get", "--namespace", SYSTEM, "pdb", "--output=name") == ""
    assert "uninstalled" in waits("uninstall", RELEASE)
    kinds = "all,pdb,roles,rolebindings,networkpolicies,serviceaccounts"
    left = cluster.kubectl("get", kinds, "--namespace", SYSTEM, "--output=name")
    assert left.split() == ["serviceaccount/default"]
    kinds = "clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingwebhookconfigurations"
    assert "firebolt" not in cluster.kubectl("get", kinds, "--output=name")
    assert cluster.definitions() == DEFINITIONS


def _older(folder: Path) -> Path:
    """Both charts with definitions of an earlier release: without columns."""
    for chart, place in ((CHART, "crds"), (CRDS_CHART, "templates")):
        copy = folder / chart.resolve().name
        shutil.copytree(chart.resolve(), copy)
        for path in (copy / place).glob("*firebolt*.yaml"):
            lines = path.read_text().split("\n")
            start, end = lines.index("    additionalPrinterColumns:"), lines.index("    schema:")
            path.write_text("\n".join(lines[:start] + lines[end:]))
    return folder


def _knows_columns(cluster: Cluster) -> bool:
    path = "--output=jsonpath={.spec.versions[0].additionalPrinterColumns[*].name}"
    return "Phase" in cluster.kubectl("get", "crd/fireboltengines.compute.firebolt.io", path)


def _largest_release(cluster: Cluster) -> int:
    """Helm keeps chart and manifests in one Secret."""
    words = ("get", "secrets", "--namespace", SYSTEM, "--selector=owner=helm", "--output=json")
    return max(len(base64.b64decode(each["data"]["release"])) for each in json.loads(cluster.kubectl(*words))["items"])


def _replicas(cluster: Cluster) -> tuple[int, int]:
    words = ("get", "--namespace", SYSTEM, f"deployment/{RELEASE}", "--output=json")
    deployment = json.loads(cluster.kubectl(*words))
    return deployment["spec"]["replicas"], deployment["status"]["updatedReplicas"]
