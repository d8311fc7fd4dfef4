"""Who issues certificates? cert-manager's own controllers, beside one control plane and stopped together with it.

Issuers that sign themselves and issuers that are a CA are all they know. There are no webhooks: what cert-manager would
refuse at admission, its controllers meet.
"""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import yaml

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.kube_http import KubeRequestError, has_condition
from firebolt_operator.refs import Manifest

PROGRAM: Final = "cert-manager"
CLUSTER_NAMESPACE: Final = "kube-system"
"""Where a ClusterIssuer finds the Secret of its CA."""
GROUP: Final = "/apis/cert-manager.io/v1"
_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409


class CertManager:
    def __init__(self, control_plane: ControlPlane, program: Path) -> None:
        self.control_plane = control_plane
        self._program = program

    def start(self) -> "CertManager":
        """Its kinds first: the controllers end when they cannot list them."""
        self.install_kinds()
        self.start_controllers()
        return self

    def install_kinds(self) -> None:
        http, kinds = self.control_plane.http, list(self._kinds())
        for kind in kinds:
            try:
                http.create(_CRDS, kind)
            except KubeRequestError as err:
                if err.status != _CONFLICT:
                    raise
        for kind in kinds:
            path = _path(kind)
            self.control_plane.wait_until(partial(self._is_usable, path), path)

    def remove_kinds(self) -> None:
        """And every object of them, as somebody does who uninstalls cert-manager."""
        for kind in self._kinds():
            path = _path(kind)
            self.control_plane.http.delete(path)
            self.control_plane.wait_until(partial(self._is_gone, path), f"no {path}")

    def start_controllers(self) -> None:
        kubeconfig = self.control_plane.kubeconfig_for(PROGRAM)
        command = [
            str(self._program),
            f"--kubeconfig={kubeconfig}",
            f"--cluster-resource-namespace={CLUSTER_NAMESPACE}",
        ]
        self.control_plane.launch(PROGRAM, command)

    def stop_controllers(self) -> None:
        self.control_plane.kill(PROGRAM)

    def renew(self, namespace: str, name: str) -> None:
        """What `cmctl renew` does: cert-manager grants no lifetime so short that a test could wait for its end."""
        path = f"{GROUP}/namespaces/{namespace}/certificates/{name}"
        certificate = self.control_plane.http.get(path)
        status: Manifest = certificate.get("status", {})
        others = [each for each in status.get("conditions", []) if each["type"] != "Issuing"]
        issuing = {
            "type": "Issuing",
            "status": "True",
            "reason": "ManuallyTriggered",
            "message": "Certificate re-issuance manually triggered",
            "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "observedGeneration": certificate["metadata"]["generation"],
        }
        self.control_plane.http.patch(f"{path}/status", {"status": {"conditions": [*others, issuing]}})

    def _is_usable(self, path: str) -> bool:
        return has_condition(self.control_plane.http.get(path), "Established")

    def _is_gone(self, path: str) -> bool:
        return self.control_plane.http.text("GET", path)[0] == _NOT_FOUND

    def _kinds(self) -> Iterator[Manifest]:
        for file in sorted(self._program.parent.glob("cert-manager.io_*.yaml")):
            yield yaml.load(file.read_text(), Loader=yaml.CSafeLoader)


def _path(kind: Manifest) -> str:
    return f"{_CRDS}/{kind['metadata']['name']}"
