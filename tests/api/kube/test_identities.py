"""Does a real API server know us by every kind of credential?"""

import base64
import json
import stat
import sys
from contextlib import aclosing
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.errors import ForbiddenError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.identity import TokenFile
from firebolt_operator.kube.ports import Scope
from firebolt_operator.kube.tls import ClientTls, Trust
from firebolt_operator.refs import Manifest
from tests.api.kube.objects import CONFIG_MAPS, a_config_map, config_map_ref
from tests.support.connect_proxy import a_proxy

V1 = "client.authentication.k8s.io/v1"


def kubeconfig_with(control_plane: ControlPlane, path: Path, user: Manifest) -> Path:
    """The admin's kubeconfig, with another user in it."""
    content: Manifest = json.loads(control_plane.kubeconfig.read_text())
    content["users"][0]["user"] = user
    path.write_text(json.dumps(content))
    return path


def issued_token(control_plane: ControlPlane, namespace: str, account: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    control_plane.http.create(path, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    issued = control_plane.http.create(f"{path}/{account}/token", request)
    return str(issued["status"]["token"])


async def who(client: KubeClient) -> str:
    """The API server's own opinion, taken from its refusal: none of these accounts has any right."""
    with pytest.raises(ForbiddenError) as caught:
        await client.get(config_map_ref("default"))
    return str(caught.value)


async def test_a_rotated_token_file_is_shown_from_then_on(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text(issued_token(control_plane, namespace, "first"))
    given = load_credentials(str(kubeconfig_with(control_plane, tmp_path / "config", {"tokenFile": "token"})), {})
    minutes = count(0, 60)
    tls = ClientTls(Trust(authorities=control_plane.ca_file.read_text()))
    identity = TokenFile(token, tls, clock=lambda: next(minutes))
    async with KubeClient.from_credentials(replace(given, identity=identity)) as client:
        assert f"system:serviceaccount:{namespace}:first" in await who(client)
        token.write_text("expired")
        assert "Unauthorized" in await who(client)
        token.write_text(issued_token(control_plane, namespace, "second"))
        assert f"system:serviceaccount:{namespace}:second" in await who(client)


def an_exec_plugin(folder: Path, status: Manifest) -> Manifest:
    script = folder / "plugin"
    credential = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
    script.write_text(f"#!{sys.executable}\nprint({json.dumps(credential)!r})\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"apiVersion": V1, "command": "./plugin", "interactiveMode": "Never"}}


async def test_an_exec_plugin_hands_out_a_token(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    user = an_exec_plugin(tmp_path, {"token": issued_token(control_plane, namespace, "plugged")})
    kubeconfig = kubeconfig_with(control_plane, tmp_path / "config", user)
    async with KubeClient.from_credentials(load_credentials(str(kubeconfig), {})) as client:
        assert f"system:serviceaccount:{namespace}:plugged" in await who(client)


async def test_an_exec_plugin_hands_out_a_certificate(control_plane: ControlPlane, tmp_path: Path) -> None:
    path = control_plane.kubeconfig_for("plugged-in", groups=())
    given: Manifest = json.loads(path.read_text())["users"][0]["user"]
    status = {
        "clientCertificateData": base64.b64decode(given["client-certificate-data"]).decode(),
        "clientKeyData": base64.b64decode(given["client-key-data"]).decode(),
    }
    kubeconfig = kubeconfig_with(control_plane, tmp_path / "config", an_exec_plugin(tmp_path, status))
    async with KubeClient.from_credentials(load_credentials(str(kubeconfig), {})) as client:
        assert 'User "plugged-in" cannot get' in await who(client)


async def test_a_service_account_as_a_pod_sees_it(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(issued_token(control_plane, namespace, "in-cluster"))
    (tmp_path / "namespace").write_text(namespace)
    (tmp_path / "ca.crt").write_bytes(control_plane.ca_file.read_bytes())
    host, _, port = control_plane.server.removeprefix("https://").partition(":")
    env = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    async with KubeClient.from_credentials(load_credentials("", env, service_account=tmp_path)) as client:
        assert f"system:serviceaccount:{namespace}:in-cluster" in await who(client)


async def test_reads_writes_and_watches_go_through_a_proxy(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    host = control_plane.server.removeprefix("https://")
    async with a_proxy({host: int(host.rpartition(":")[2])}) as proxy:
        content: Manifest = json.loads(control_plane.kubeconfig.read_text())
        content["clusters"][0]["cluster"]["proxy-url"] = proxy.url
        (tmp_path / "config").write_text(json.dumps(content))
        async with KubeClient.from_credentials(load_credentials(str(tmp_path / "config"), {})) as client:
            made = await client.create(a_config_map(namespace))
            version = made["metadata"]["resourceVersion"]
            scope = Scope(resource=CONFIG_MAPS, namespace=namespace)
            async with aclosing(client.watch(scope, resource_version=version)) as events:
                await client.apply(a_config_map(namespace, a="1"))
                event = await anext(events)
        assert json.loads(event.body)["data"] == {"a": "1"}
        assert set(proxy.asked) == {f"CONNECT {host}"}
