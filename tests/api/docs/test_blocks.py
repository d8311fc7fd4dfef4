"""Do the commands of the pages do what they are for? Everything that simulated pods are enough for, in one story."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.scrape import SOCKET
from firebolt_local.cluster.simulated_pods import SimulatedPods
from tests.api.chart.installed import running
from tests.support.docs_desk import Desk
from tests.support.docs_marks import CONTROL_PLANE, marked_for

VALUES: Final = {"drainSettle": "0", "webhook": {"enabled": False}}
INSTALL: Final = (
    "docs/quickstart.md:2",
    "docs/install.md:6",
    "docs/monitoring.md:1",
    "docs/upgrade.md:1",
    # No pod answers for the webhooks' Service here. The page has the way out.
    "docs/admission.md:7",
)
USE: Final = ("docs/quickstart.md:3",)
LEAVE: Final = ("docs/install.md:5", "docs/upgrade.md:2", "docs/upgrade.md:3")
MONITORS: Final = """
for kind in PodMonitor:podmonitors ServiceMonitor:servicemonitors PrometheusRule:prometheusrules; do
kubectl apply -f - <<EOF
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${kind#*:}.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  names: {kind: ${kind%:*}, plural: ${kind#*:}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
EOF
done
kubectl wait --for=condition=Established crd --all
"""
FAILED: Final = "kubectl wait fire/demo --for=jsonpath='{.status.phase}'=Failed --timeout=60s"
CHANGED: Final = """kubectl patch fire demo --subresource=status --type=merge --patch \
'{"status": {"instanceID": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}}'"""
READY: Final = "kubectl wait fire/demo fireng/analytics --for=condition=Ready --timeout=60s"
FORGOTTEN: Final = """
kubectl apply --server-side --force-conflicts --filename config/crd/
kubectl wait --for=condition=Established crd/fireboltengines.compute.firebolt.io
kubectl apply -f - <<EOF
apiVersion: compute.firebolt.io/v1alpha1
kind: FireboltEngine
metadata: {name: forgotten, finalizers: [compute.firebolt.io/engine-cleanup]}
spec: {instanceRef: demo}
EOF
kubectl delete fireng forgotten --wait=false
"""
BEFORE: Final = {
    "docs/install.md:6": "kubectl create namespace team-a",
    "docs/monitoring.md:1": MONITORS,
    "docs/gitops.md:1": "kubectl create namespace argocd; kubectl --namespace argocd create configmap argocd-cm",
    "docs/instances.md:8": f"kubectl delete secret demo-metadata-postgres-creds; {FAILED}",
    "docs/instances.md:9": f"{CHANGED}; {FAILED}",
    "docs/upgrade.md:3": FORGOTTEN,
}
"""What has happened to whoever reads this part."""
AFTER: Final = {
    "docs/instances.md:8": READY,
    "docs/instances.md:9": READY,
    "docs/upgrade.md:3": "kubectl wait --for=delete fireng/forgotten --timeout=60s",
}
"""What the page says that comes of it."""


def test_given_a_control_plane_when_the_pages_are_followed_then_every_command_works(
    fresh_control_plane: Callable[..., ControlPlane], built_programs: dict[str, Path], tmp_path: Path
) -> None:
    blocks = marked_for(CONTROL_PLANE)
    assert set(BEFORE) | set(AFTER) | {*INSTALL, *USE, *LEAVE} <= set(blocks)
    plane = fresh_control_plane(simulated_pods=True)
    pods = SimulatedPods(plane, built_programs).start()
    desk = Desk.prepare(tmp_path / "desk", plane.kubeconfig)
    (desk.files / SOCKET).symlink_to(pods.scrape.folder / SOCKET)

    def follow(name: str) -> None:
        for script in filter(None, (BEFORE.get(name), blocks[name].script(), AFTER.get(name))):
            desk.run(script, what=name)

    for name in INSTALL:
        follow(name)
    with running(plane, VALUES, tmp_path / "operator.log") as operator:
        for name in (*USE, *(each for each in blocks if each not in {*INSTALL, *USE, *LEAVE})):
            follow(name)
        assert [request for request in operator.requests() if request[2] in {401, 403}] == []
        for name in LEAVE:
            follow(name)
