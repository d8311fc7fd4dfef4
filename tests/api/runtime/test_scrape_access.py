"""Who may read metrics, decided by a real API server."""

import random
import secrets

import aiohttp

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.runtime.certificates import self_signed_pem, server_context
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.metrics_server import metrics_app
from firebolt_operator.runtime.scrape_access import ScrapeAccess
from firebolt_operator.runtime.servers import BindAddress, HttpServer
from tests.api.runtime.config_maps import a_client

RBAC = "/apis/rbac.authorization.k8s.io/v1"


async def render() -> bytes:
    return b"up 1\n"


def a_token(plane: ControlPlane, namespace: str, account: str) -> str:
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    plane.http.create(accounts, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return str(plane.http.create(f"{accounts}/{account}/token", request)["status"]["token"])


def grant(plane: ControlPlane, namespace: str, account: str) -> str:
    name = f"scraper-{secrets.token_hex(4)}"
    rule = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    role = {"metadata": {"name": name}, "rules": [rule]}
    plane.http.create(f"{RBAC}/clusterroles", {"apiVersion": RBAC[6:], "kind": "ClusterRole", **role})
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": account}],
    }
    plane.http.create(f"{RBAC}/clusterrolebindings", {"apiVersion": RBAC[6:], "kind": "ClusterRoleBinding", **binding})
    return name


async def fetch(url: str, token: str = "") -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers, ssl=False) as response:
        return response.status, await response.text()


async def test_given_real_tokens_then_only_an_account_with_the_grant_reads_metrics(
    control_plane: ControlPlane, namespace: str
) -> None:
    granted, plain = a_token(control_plane, namespace, "granted"), a_token(control_plane, namespace, "plain")
    role = grant(control_plane, namespace, "granted")
    clock = SystemClock()
    async with a_client(control_plane.kubeconfig) as client:
        app = metrics_app(render, ScrapeAccess(client.reviews, clock, random.Random()))
        tls = server_context(self_signed_pem(clock))
        server = HttpServer("metrics", app, BindAddress("127.0.0.1", 0), tls)
        await server.start()
        url = f"https://127.0.0.1:{server.port}/metrics"
        answers = [await fetch(url, token) for token in ("", "nonsense", plain, granted)]
        await server.stop()
    assert answers == [
        (401, "Unauthorized"),
        (401, "Authentication failed"),
        (403, f"Authorization denied for user system:serviceaccount:{namespace}:plain"),
        (200, "up 1\n"),
    ]
    for kind in ("clusterrolebindings", "clusterroles"):
        control_plane.http.delete(f"{RBAC}/{kind}/{role}")
