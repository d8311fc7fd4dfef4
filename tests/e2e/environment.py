"""Where do end-to-end tests take place? On a cluster of their own, with the operator as the chart installs it."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.cluster.folder import cluster_folder, state_folder
from firebolt_local.locks import exclusive
from firebolt_local.node.cluster import NodeCluster, NodesRequest, up
from firebolt_local.node.teardown import remove_cluster
from firebolt_local.progress import Progress, wait_until
from firebolt_local.testing.image_loading import build_and_load
from firebolt_local.testing.installer import Installer
from firebolt_operator.api.names import gateway_name
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from tests.support.kubectl import kubectl
from tests.support.nodes import traces

OWN_NAME = "e2e"
NAMESPACE = "e2e"
INSTANCE = "main"
_INSTANCE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Environment:
    cluster: NodeCluster

    def kubectl(self, *words: str, stdin: str | None = None) -> str:
        return kubectl(self.cluster.kubeconfig, words, stdin=stdin)

    def gateway(self, namespace: str = NAMESPACE, instance: str = INSTANCE) -> str:
        """Its Service, which this machine has a route to."""
        service = self.cluster.http.get(f"/api/v1/namespaces/{namespace}/services/{gateway_name(instance)}")
        return f"http://{service['spec']['clusterIP']}:{service['spec']['ports'][0]['port']}/"

    def make_instance(self, namespace: str, name: str = INSTANCE) -> None:
        """Returns when it is ready."""
        manifest = {
            "apiVersion": FIREBOLT_INSTANCES.api_version,
            "kind": FIREBOLT_INSTANCES.kind,
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"metadata": {}, "gateway": {}},
        }
        path = f"/apis/{FIREBOLT_INSTANCES.api_version}/namespaces/{namespace}/{FIREBOLT_INSTANCES.plural}"
        self.cluster.http.create(path, manifest)
        self.wait_for_instance(namespace, name)

    def wait_for_instance(self, namespace: str, name: str = INSTANCE) -> None:
        path = f"/apis/{FIREBOLT_INSTANCES.api_version}/namespaces/{namespace}/{FIREBOLT_INSTANCES.plural}/{name}"

        def is_ready() -> bool:
            return bool(self.cluster.http.get(path).get("status", {}).get("phase") == "Ready")

        wait_until(is_ready, f"the instance {name}", _INSTANCE_SECONDS)

    def make_namespace(self, name: str) -> None:
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self.cluster.http.create("/api/v1/namespaces", manifest)


@contextmanager
def own_environment() -> Generator[Environment]:
    """A cluster that nobody else uses."""
    with own_place(OWN_NAME):
        yield _prepared(OWN_NAME)


@contextmanager
def own_place(name: str) -> Generator[None]:
    """For a cluster of this name, removed afterwards together with what an interrupted run has left."""
    folder = cluster_folder(name, None)
    with exclusive(state_folder() / f".{name}-tests.lock", when_waiting=lambda: print("another run; waiting")):
        if folder.read() is not None:
            remove_cluster(folder)
        try:
            yield
        finally:
            if folder.read() is not None:
                remove_cluster(folder)
    left = traces(folder.path)
    assert (left.groups, left.links, left.routes) == ([], [], []), "the cluster left something behind"


def audit_log(name: str) -> Path:
    """What the API server of a cluster was asked, by whom, and what it answered."""
    return cluster_folder(name, None).path / "audit.log"


def lasting_environment(name: str) -> Environment:
    """A cluster that stays, for whoever works on these tests."""
    return _prepared(name)


def _prepared(name: str) -> Environment:
    progress = Progress(lambda text: print(text, flush=True))
    cluster = up(NodesRequest(name=name, assume_yes=True))
    _, loaded = build_and_load(cluster)
    progress.note("images are on the node")
    Installer.for_cluster(cluster).bring_up_to_date(loaded)
    progress.note("the operator's pod is ready")
    environment = Environment(cluster)
    if "not found" in _namespace_problem(environment):
        environment.make_namespace(NAMESPACE)
        environment.make_instance(NAMESPACE)
    environment.wait_for_instance(NAMESPACE)
    progress.note("the instance is ready")
    return environment


def _namespace_problem(environment: Environment) -> str:
    return environment.cluster.http.text("GET", f"/api/v1/namespaces/{NAMESPACE}")[1]
