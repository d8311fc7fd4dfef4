"""Who issues certificates? cert-manager's own controllers, as a process beside a cluster of any kind.

Issuers that sign themselves and issuers that are a CA are all they know. There are no webhooks: what cert-manager would
refuse at admission, its controllers meet.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import yaml

from firebolt_local.cluster import processes
from firebolt_local.cluster.kube_http import KubeHttp, KubeRequestError, has_condition
from firebolt_local.cluster.processes import Launch
from firebolt_local.errors import LocalError
from firebolt_local.progress import wait_until
from firebolt_operator.refs import Manifest

PROGRAM: Final = "cert-manager"
CLUSTER_NAMESPACE: Final = "kube-system"
"""Where a ClusterIssuer finds the Secret of its CA."""
GROUP: Final = "/apis/cert-manager.io/v1"
_KINDS: Final = "cert-manager.io_*.yaml"
_CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_MOST_SECONDS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class CertManager:
    """`folder` has its log and its record: in a cluster's own folder it is ended together with the cluster."""

    http: KubeHttp
    kubeconfig: Path
    program: Path
    folder: Path
    dies_with_parent: bool = True  # of the thread that starts it

    def start(self) -> "CertManager":
        """Its kinds first: the controllers cannot list what is not there."""
        self.install_kinds()
        self.start_controllers()
        return self

    def install_kinds(self) -> None:
        kinds = list(self._kinds())
        for kind in kinds:
            try:
                self.http.create(_CRDS, kind)
            except KubeRequestError as err:
                if err.status != _CONFLICT:
                    raise
        for kind in kinds:
            wait_until(partial(self._is_usable, _path(kind)), _path(kind), _MOST_SECONDS)

    def remove_kinds(self) -> None:
        """And every object of them, as somebody does who uninstalls cert-manager."""
        for kind in self._kinds():
            self.http.delete(_path(kind))
            wait_until(partial(self._is_gone, _path(kind)), f"no {_path(kind)}", _MOST_SECONDS)

    def start_controllers(self) -> None:
        launch = self._launch()
        processes.start(launch)
        wait_until(launch.record.is_file, f"the record of {PROGRAM}", _MOST_SECONDS)

    def stop_controllers(self) -> None:
        """At once. Certificates stay as they are, and nothing is issued."""
        record = processes.read_records(self.folder).get(PROGRAM)
        if record is not None:
            processes.kill([record])
            self._launch().record.unlink()

    def renew(self, namespace: str, name: str) -> None:
        """As its own command line does: it grants no lifetime so short that a test could wait for its end."""
        path = f"{GROUP}/namespaces/{namespace}/certificates/{name}"
        certificate = self.http.get(path)
        status: Manifest = certificate.get("status", {})
        others = [each for each in status.get("conditions", []) if each["type"] != "Issuing"]
        issuing = {
            "type": "Issuing",
            "status": "True",
            "reason": "ManuallyTriggered",
            "message": "somebody asked for a new certificate",
            "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "observedGeneration": certificate["metadata"]["generation"],
        }
        self.http.patch(f"{path}/status", {"status": {"conditions": [*others, issuing]}})

    def _launch(self) -> Launch:
        flags = (f"--kubeconfig={self.kubeconfig.resolve()}", f"--cluster-resource-namespace={CLUSTER_NAMESPACE}")
        return Launch(
            name=PROGRAM,
            command=[str(self.program), *flags],
            folder=self.folder.resolve(),
            environment={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.folder)},
            dies_with_parent=self.dies_with_parent,
        )

    def _is_usable(self, path: str) -> bool:
        return has_condition(self.http.get(path), "Established")

    def _is_gone(self, path: str) -> bool:
        return self.http.text("GET", path)[0] == _NOT_FOUND

    def _kinds(self) -> Iterator[Manifest]:
        files = sorted(self.program.parent.glob(_KINDS))
        if not files:
            raise LocalError(f"there is no {_KINDS} beside {self.program}; put cert-manager's deploy/crds there")
        for file in files:
            yield yaml.load(file.read_text(), Loader=yaml.CSafeLoader)


def _path(kind: Manifest) -> str:
    return f"{_CRDS}/{kind['metadata']['name']}"
