"""What do all places of a campaign share? One API server with simulated pods, and a ledger of all that happens."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firebolt_local.campaign.proxy.upstream import Upstream, to_server
from firebolt_local.cluster import cert_manager
from firebolt_local.cluster.cert_manager import CertManager
from firebolt_local.cluster.control_plane import ControlPlane, Options
from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_local.cluster.kubeconfig import write_token_kubeconfig
from firebolt_local.cluster.pki import Authority, Subject
from firebolt_local.cluster.ports import LOOPBACK
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_local.programs import provision
from firebolt_local.testing.crds import install_crds
from firebolt_local.testing.ledger import INSTANCE_KINDS, Ledger, a_ledger
from firebolt_operator.api.resources import CERTIFICATES, FIREBOLT_ENGINE_PRESETS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.refs import Resource

SYSTEM: Final = "campaign-system"
ACCOUNT: Final = "operator"
ISSUER: Final = "campaign"
"""Of certificates, for the whole cluster."""
# All but those for Endpoints, which nobody here reads.
_CONTROLLERS: Final = ("*", "-endpoints-controller", "-endpointslice-mirroring-controller")
KINDS: Final = (*INSTANCE_KINDS, FIREBOLT_ENGINE_PRESETS)
_TOKEN_SECONDS: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class Cluster:
    """As much as a campaign needs to know of one, whoever started it."""

    server: str
    http: KubeHttp  # as administrator
    kubeconfig: Path
    ca_file: Path
    folder: Path  # for logs, kubeconfigs and certificates of ours


def cluster_of(plane: ControlPlane) -> Cluster:
    return Cluster(plane.server, plane.http, plane.kubeconfig, plane.ca_file, plane.folder)


@dataclass(frozen=True, slots=True)
class Arena:
    cluster: Cluster
    client: KubeClient  # of people, not of the operator
    ledger: Ledger
    upstream: Upstream
    authority: Authority  # of the proxies
    tls: ssl.SSLContext  # the same
    token: str

    def kubeconfig(self, name: str, address: str) -> Path:
        """Leads an operator to its proxy."""
        path = self.cluster.folder / f"{name}.kubeconfig"
        return write_token_kubeconfig(path, address, self.authority.pair.certificate, self.token)


@asynccontextmanager
async def open_arena(folder: Path, *, has_certificates: bool = False) -> AsyncGenerator[Arena]:
    programs = provision.provide(provision.CONTROL_PLANE + provision.SIMULATED_PODS)
    options = Options(folder=folder, controllers=_CONTROLLERS, simulated_pods=True, benchmark_limits=True)
    plane = ControlPlane(options, programs).start()
    try:
        SimulatedPods(plane, programs).start()
        if has_certificates:
            _issue_certificates(plane)
        async with arena_on(cluster_of(plane), (*KINDS, CERTIFICATES) if has_certificates else KINDS) as arena:
            yield arena
    finally:
        plane.stop()


def _issue_certificates(plane: ControlPlane) -> None:
    """With cert-manager's own controllers; they end with the control plane."""
    program = provision.provide(provision.CERTIFICATES)[cert_manager.PROGRAM]
    CertManager(http=plane.http, kubeconfig=plane.kubeconfig, program=program, folder=plane.folder).start()
    issuer = {"apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": {"name": ISSUER}}
    plane.http.create(f"{cert_manager.GROUP}/clusterissuers", {**issuer, "spec": {"selfSigned": {}}})


@asynccontextmanager
async def arena_on(cluster: Cluster, kinds: Sequence[Resource] = KINDS) -> AsyncGenerator[Arena]:
    async with AsyncExitStack() as stack:
        credentials = load_credentials(str(cluster.kubeconfig), {})
        client = await stack.enter_async_context(KubeClient.from_credentials(credentials))
        await install_crds(client)
        believed = ssl.create_default_context(cafile=str(cluster.ca_file))
        upstream = await stack.enter_async_context(to_server(cluster.server, believed))
        ledger = await stack.enter_async_context(a_ledger(client, kinds))
        authority = Authority(cluster.folder / "campaign-pki")
        yield Arena(cluster, client, ledger, upstream, authority, _proxy_tls(authority), _token(cluster.http))
    # TLS connections say goodbye before they close, and nothing tells when they have.
    await asyncio.sleep(0.2)


def _proxy_tls(authority: Authority) -> ssl.SSLContext:
    pair = authority.issue("proxy", Subject("proxy", hosts=(LOOPBACK,)))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)
    return context


def _token(http: KubeHttp) -> str:
    """Of an account that may do everything: rights are another matter."""
    accounts = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts"
    if http.text("GET", f"{accounts}/{ACCOUNT}")[0] != 200:
        http.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
        http.create(accounts, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT}})
        binding = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": SYSTEM},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": SYSTEM}],
        }
        http.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    asked_for = {**asked, "spec": {"expirationSeconds": _TOKEN_SECONDS}}
    token: str = http.create(f"{accounts}/{ACCOUNT}/token", asked_for)["status"]["token"]
    return token
