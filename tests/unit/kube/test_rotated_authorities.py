"""Is a server believed whose authority was rotated while we run?"""

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from firebolt_operator.errors import TransientError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import Credentials, load_credentials
from firebolt_operator.refs import Manifest
from tests.unit.kube.kubeconfigs import a_kubeconfig, a_server_context, an_authority, inline
from tests.unit.kube.wire import CONFIG_MAPS, SETTINGS, WireServer, a_config_map, answer

HOST = "127.0.0.1"
Load = Callable[[Path, str], Credentials]


def in_a_pod(folder: Path, server: str) -> Credentials:
    (folder / "token").write_text("t0ken")
    (folder / "namespace").write_text("shop")
    env = {"KUBERNETES_SERVICE_HOST": HOST, "KUBERNETES_SERVICE_PORT": server.rpartition(":")[2]}
    return load_credentials("", env, service_account=folder)


def by_kubeconfig(folder: Path, server: str, user: Manifest) -> Credentials:
    content = a_kubeconfig(server=server, cluster={"certificate-authority": "ca.crt"}, user=user)
    (folder / "config").write_text(yaml.safe_dump(content))
    return load_credentials(str(folder / "config"), {})


def with_a_token(folder: Path, server: str) -> Credentials:
    return by_kubeconfig(folder, server, {"token": "t0ken"})


def with_a_program(folder: Path, server: str) -> Credentials:
    version = "client.authentication.k8s.io/v1"
    issued = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": "t0ken"}}
    (folder / "plugin").write_text(f"#!{sys.executable}\nprint({json.dumps(issued)!r})\n")
    (folder / "plugin").chmod(stat.S_IRWXU)
    return by_kubeconfig(folder, server, {"exec": {"apiVersion": version, "command": "./plugin"}})


@pytest.mark.parametrize("load", [in_a_pod, with_a_token, with_a_program])
@pytest.mark.parametrize("is_write", [False, True])
async def test_a_rotated_authority_is_believed_without_a_restart(load: Load, is_write: bool, tmp_path: Path) -> None:
    old, new = an_authority(tmp_path / "old"), an_authority(tmp_path / "new")
    authorities = tmp_path / "ca.crt"
    authorities.write_bytes(old.pair.certificate.read_bytes())
    async with WireServer(answer(200, a_config_map()), tls=a_server_context(new, HOST)) as server:
        async with KubeClient.from_credentials(load(tmp_path, server.url), kinds=[CONFIG_MAPS]) as client:
            with pytest.raises(TransientError, match="cannot trust"):
                await client.get(SETTINGS)
            authorities.write_bytes(b"half of a certif")
            with pytest.raises(TransientError, match="cannot trust"):
                await client.get(SETTINGS)
            authorities.unlink()
            with pytest.raises(TransientError, match="cannot trust"):
                await client.get(SETTINGS)
            authorities.write_bytes(new.pair.certificate.read_bytes())
            answered = await (client.apply(a_config_map()) if is_write else client.get(SETTINGS))
            assert answered == a_config_map()
            assert await client.get(SETTINGS) == a_config_map()
        assert server.connections == 1
        assert len(server.requests) == 2


async def test_an_authority_that_left_the_file_is_not_believed_any_more(tmp_path: Path) -> None:
    old, new = an_authority(tmp_path / "old"), an_authority(tmp_path / "new")
    authorities = tmp_path / "ca.crt"
    authorities.write_bytes(old.pair.certificate.read_bytes())
    async with WireServer(answer(200, a_config_map()), tls=a_server_context(new, HOST)) as server:
        given = with_a_token(tmp_path, server.url)
        authorities.write_bytes(new.pair.certificate.read_bytes())
        async with KubeClient.from_credentials(given) as client:
            await client.get(SETTINGS)
    believed = (await given.identity.proof()).tls.get_ca_certs(binary_form=True)
    assert len(believed) == 1


async def test_what_stands_in_the_kubeconfig_itself_is_not_looked_for_in_a_file(tmp_path: Path) -> None:
    old, new = an_authority(tmp_path / "old"), an_authority(tmp_path / "new")
    content = a_kubeconfig(cluster={"certificate-authority-data": inline(old.pair.certificate)})
    async with WireServer(answer(200, a_config_map()), tls=a_server_context(new, HOST)) as server:
        content["clusters"][0]["cluster"]["server"] = server.url
        (tmp_path / "config").write_text(yaml.safe_dump(content))
        async with KubeClient.from_credentials(load_credentials(str(tmp_path / "config"), {})) as client:
            with pytest.raises(TransientError, match="cannot trust"):
                await client.get(SETTINGS)
        assert server.requests == []
