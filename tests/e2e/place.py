"""Where do end-to-end tests take place? On a cluster of their own, with the operator as the chart installs it."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.cluster.folder import cluster_folder, state_folder
from firebolt_local.images.catalogue import build_all
from firebolt_local.locks import exclusive
from firebolt_local.node.cluster import NodeCluster, NodesRequest, up
from firebolt_local.node.teardown import remove_cluster
from firebolt_local.programs import provision
from firebolt_local.progress import Progress, wait_until
from firebolt_local.testing.image_loading import load_changed
from firebolt_local.testing.installer import Installer
from firebolt_operator.api.names import gateway_name
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from tests.api.local.nodes import traces
from tests.support.kubectl import kubectl

OWN_NAME = "e2e"
NAMESPACE = "e2e"
INSTANCE = "main"
_INSTANCE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Place:
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
def own_place() -> Generator[Place]:
    """A cluster that nobody else uses, removed afterwards together with what an interrupted run has left."""
    folder = cluster_folder(OWN_NAME, None)
    with exclusive(state_folder() / f".{OWN_NAME}-tests.lock", when_waiting=lambda: print("another run; waiting")):
        if folder.read() is not None:
            remove_cluster(folder)
        try:
            yield _furnished(OWN_NAME)
        finally:
            if folder.read() is not None:
                remove_cluster(folder)
    left = traces(folder.path)
    assert (left.groups, left.links, left.routes) == ([], [], []), "the cluster left something behind"


def lasting_place(name: str) -> Place:
    """A cluster that stays, for whoever works on these tests."""
    return _furnished(name)


def _furnished(name: str) -> Place:
    progress = Progress(lambda text: print(text, flush=True))
    cluster = up(NodesRequest(name=name, assume_yes=True))
    archives = build_all(provision.cache_folder() / "images")
    progress.note("images are built")
    loaded = load_changed(cluster, archives)
    progress.note("images are on the node")
    _install(cluster, has_new_image=any(Path(path).stem == "operator" for path in loaded))
    progress.note("the operator's pod is ready")
    place = Place(cluster)
    if "not found" in _namespace_problem(place):
        place.make_namespace(NAMESPACE)
        place.make_instance(NAMESPACE)
    place.wait_for_instance(NAMESPACE)
    progress.note("the instance is ready")
    return place


def _install(cluster: NodeCluster, *, has_new_image: bool) -> None:
    found = provision.provide(["helm", "kubectl"])
    installer = Installer(found["helm"], found["kubectl"], cluster.kubeconfig)
    must_restart = has_new_image and installer.is_installed()
    installer.install()
    if must_restart:
        installer.restart()


def _namespace_problem(place: Place) -> str:
    return place.cluster.http.text("GET", f"/api/v1/namespaces/{NAMESPACE}")[1]
