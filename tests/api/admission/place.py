"""A namespace whose writes an operator judges: the process, the chart's own webhook configurations, and a person."""

import http.client
import json
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.kube_http import MERGE_PATCH, KubeHttp
from firebolt_local.cluster.pki import Subject
from firebolt_local.cluster.ports import free_port
from firebolt_local.testing.namespaces import empty_namespace, make_namespace
from firebolt_operator.api.names import GROUP, VERSION
from firebolt_operator.refs import Manifest
from tests.support.admission.case import BOUNDS
from tests.support.admission.world import path_of
from tests.support.chart import arguments, rendered
from tests.support.crds import install_crds

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
ACCOUNT = "system:serviceaccount:{}:{}"


@dataclass
class Place:
    plane: ControlPlane
    namespace: str
    log: Path
    port: int = field(default_factory=free_port)
    health: int = field(default_factory=free_port)
    values: Manifest = field(default_factory=dict[str, Any])  # of the chart, besides those that suit a test
    http: KubeHttp | None = None  # whoever writes; None: a person
    process: "subprocess.Popen[bytes] | None" = None
    more: tuple[str, ...] = ()  # flags, after all others

    @property
    def writer(self) -> KubeHttp:
        return self.http or self.plane.http

    @cached_property
    def manifests(self) -> list[Manifest]:
        values = {"fullnameOverride": self.namespace, "watchNamespaces": [self.namespace]}
        bounds = {"maxCPU": BOUNDS["cpu"], "maxMemory": BOUNDS["memory"]}
        return rendered({**values, "engineResourceBounds": bounds, **self.values}, namespace=self.namespace)

    def configurations(self) -> list[Manifest]:
        """As the chart has them, but asked on loopback: there is no network of pods here."""
        manifests = deepcopy(self.manifests)
        found = [each for each in manifests if each["kind"].endswith("WebhookConfiguration")]
        for configuration in found:
            for webhook in configuration["webhooks"]:
                path = webhook["clientConfig"]["service"]["path"]
                webhook["clientConfig"] = {"url": f"https://127.0.0.1:{self.port}{path}"}
        return found

    def configuration_path(self, kind: str = "validating") -> str:
        return f"{CONFIGURATIONS}/{kind}webhookconfigurations/{self.namespace}"

    @property
    def secret_path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/secrets/{self.namespace}-webhook-certificate"

    def install(self) -> None:
        for configuration in self.configurations():
            self.plane.http.create(f"{CONFIGURATIONS}/{configuration['kind'].lower()}s", configuration)

    def uninstall(self) -> None:
        for kind in ("validating", "mutating"):
            self.plane.http.text("DELETE", self.configuration_path(kind))

    def start(self) -> None:
        account = ACCOUNT.format(self.namespace, self.namespace)
        words = [
            *arguments(self.manifests),
            f"--kubeconfig={self.plane.kubeconfig_for(account, ('system:masters',))}",
            "--leader-elect=false",
            f"--health-probe-bind-address=127.0.0.1:{self.health}",
            "--metrics-bind-address=0",
            f"--webhook-bind-address=127.0.0.1:{self.port}",
            "--webhook-names=127.0.0.1",
            *self.more,
        ]
        environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "PYTHONDONTWRITEBYTECODE": "1"}
        with self.log.open("ab") as sink:
            command = [sys.executable, "-m", "firebolt_operator.main", *words]
            self.process = subprocess.Popen(command, env=environment, stdout=sink, stderr=sink)
        self.plane.wait_until(self.is_ready, "the operator has a certificate")
        self.plane.wait_until(self.is_judging, "the API server asks it")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=60)
            self.process = None

    def is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.health, timeout=10)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == http.client.OK
        except OSError:
            return False
        finally:
            connection.close()

    def is_judging(self) -> bool:
        status, answer = self.create(engine("probe", template=HOSTNAME), dry_run=True)
        return status == http.client.FORBIDDEN and "denied the request" in answer

    def as_account(self, name: str) -> "Place":
        """The same place, written to by a ServiceAccount of its namespace with all rights."""
        subject = Subject(ACCOUNT.format(self.namespace, name), ("system:masters",))
        pair = self.plane._authority.issue(f"{self.namespace}-{name}", subject)
        return replace(self, http=KubeHttp.with_certificate(self.plane.server, self.plane.ca_file, pair))

    def path(self, kind: str, name: str = "") -> str:
        return path_of(kind, self.namespace, name)

    def create(self, manifest: Manifest, *, dry_run: bool = False) -> tuple[int, str]:
        query = "?dryRun=All" if dry_run else ""
        return self.writer.text("POST", self.path(manifest["kind"]) + query, json.dumps(manifest))

    def put(self, manifest: Manifest, *, dry_run: bool = False) -> tuple[int, str]:
        query = "?dryRun=All" if dry_run else ""
        path = self.path(manifest["kind"], manifest["metadata"]["name"])
        return self.writer.text("PUT", path + query, json.dumps(manifest))

    def made(self, manifest: Manifest) -> Manifest:
        status, answer = self.create(manifest)
        assert status == http.client.CREATED, answer
        return dict(json.loads(answer))

    def patch(self, kind: str, name: str, change: Manifest, subresource: str = "") -> tuple[int, str]:
        path = "/".join(filter(None, (self.path(kind, name), subresource)))
        return self.writer.text("PATCH", path, json.dumps(change), MERGE_PATCH)

    def delete(self, kind: str, name: str) -> tuple[int, str]:
        return self.writer.text("DELETE", self.path(kind, name))

    def found(self, kind: str, name: str) -> Manifest | None:
        status, answer = self.writer.text("GET", self.path(kind, name))
        return None if status == http.client.NOT_FOUND else dict(json.loads(answer))

    def warnings(self, manifest: Manifest) -> list[str]:
        """What kubectl prints after `Warning:`."""
        http_of = self.plane.http
        connection = http.client.HTTPSConnection(urlsplit(http_of.server).netloc, context=http_of.tls, timeout=30)
        try:
            path = self.path(manifest["kind"]) + "?dryRun=All"
            connection.request("POST", path, json.dumps(manifest), {"Content-Type": "application/json"})
            response = connection.getresponse()
            assert response.status == http.client.CREATED, response.read()
            return response.headers.get_all("Warning") or []
        finally:
            connection.close()


@contextmanager
def running_place(
    plane: ControlPlane, log: Path, prepare: Callable[[Place], None] | None = None, **fields: Any
) -> Generator[Place]:
    """The configurations first, as a half-started install has them: nobody serves yet, and it heals by itself."""
    install_crds(plane.kubeconfig)
    place = Place(plane, make_namespace(plane.http), log, **fields)
    if prepare is not None:
        prepare(place)
    place.install()
    try:
        place.start()
        yield place
    finally:
        place.stop()
        place.uninstall()
        empty_namespace(plane.http, place.namespace)


HOSTNAME: Manifest = {"spec": {"hostname": "x"}}


def an_object(kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": {"name": name}, "spec": spec}


def engine(name: str, **spec: Any) -> Manifest:
    return an_object("FireboltEngine", name, {"instanceRef": "inst", "replicas": 0, **spec})


def engine_class(name: str, **spec: Any) -> Manifest:
    return an_object("FireboltEngineClass", name, {"template": {}, **spec})


def instance(name: str, **spec: Any) -> Manifest:
    return an_object("FireboltInstance", name, {"metadata": {}, "gateway": {}, **spec})
