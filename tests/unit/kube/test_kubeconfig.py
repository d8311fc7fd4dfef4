"""What does a kubeconfig say, and is it obeyed on the wire?"""

from pathlib import Path

import pytest
import yaml

from firebolt_operator.errors import ConfigurationError, TransientError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import Credentials
from firebolt_operator.kube.exec_plugin import ExecPlugin
from firebolt_operator.kube.kubeconfig import load_kubeconfig
from firebolt_operator.refs import Manifest
from tests.unit.kube.kubeconfigs import a_kubeconfig, a_pair, a_server_context, an_authority, inline
from tests.unit.kube.wire import SETTINGS, WireServer, a_config_map, answer

V1 = "client.authentication.k8s.io/v1"


def load(folder: Path, content: Manifest, **env: str) -> Credentials:
    path = folder / "config"
    path.write_text(yaml.safe_dump(content))
    return load_kubeconfig([path], env)


async def authorization(credentials: Credentials) -> str:
    return (await credentials.identity.proof()).authorization


async def answered(credentials: Credentials) -> bool:
    async with KubeClient.from_credentials(credentials) as client:
        return await client.get(SETTINGS) == a_config_map()


async def test_inline_certificates_never_touch_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = an_authority(tmp_path)
    pair = a_pair(authority, "alice")
    user = {"client-certificate-data": inline(pair.certificate), "client-key-data": inline(pair.key)}
    cluster = {"certificate-authority-data": inline(authority.pair.certificate)}
    monkeypatch.setattr("tempfile.NamedTemporaryFile", None)
    tls = a_server_context(authority, "127.0.0.1")
    async with WireServer(answer(200, a_config_map()), tls=tls) as server:
        assert await answered(load(tmp_path, a_kubeconfig(server=server.url + "/", cluster=cluster, user=user)))
        assert server.peers[0] is not None
        assert server.peers[0]["subject"] == ((("commonName", "alice"),),)


async def test_files_are_found_beside_the_kubeconfig(tmp_path: Path) -> None:
    authority = an_authority(tmp_path)
    a_pair(authority, "alice")
    user = {"client-certificate": "pki/alice.crt", "client-key": "pki/alice.key"}
    cluster = {"certificate-authority": "pki/ca.crt"}
    tls = a_server_context(authority, "127.0.0.1")
    async with WireServer(answer(200, a_config_map()), tls=tls) as server:
        assert await answered(load(tmp_path, a_kubeconfig(server=server.url, cluster=cluster, user=user)))
        assert server.peers[0]


async def test_the_server_may_go_by_another_name(tmp_path: Path) -> None:
    authority = an_authority(tmp_path)
    cluster = {"certificate-authority": "pki/ca.crt"}
    tls = a_server_context(authority, "api.example.invalid")
    async with WireServer(answer(200, a_config_map()), tls=tls) as server:
        with pytest.raises(TransientError, match=r"cannot trust 127\.0\.0\.1:\d+: .*IP address mismatch"):
            await answered(load(tmp_path, a_kubeconfig(server=server.url, cluster=cluster)))
        cluster["tls-server-name"] = "api.example.invalid"
        assert await answered(load(tmp_path, a_kubeconfig(server=server.url, cluster=cluster)))


async def test_a_stranger_is_trusted_only_on_demand(tmp_path: Path) -> None:
    tls = a_server_context(an_authority(tmp_path), "127.0.0.1")
    async with WireServer(answer(200, a_config_map()), tls=tls) as server:
        with pytest.raises(TransientError, match="cannot trust"):
            await answered(load(tmp_path, a_kubeconfig(server=server.url)))
        insecure = {"insecure-skip-tls-verify": True}
        assert await answered(load(tmp_path, a_kubeconfig(server=server.url, cluster=insecure)))


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        pytest.param({"token": "t0ken"}, "Bearer t0ken", id="token"),
        pytest.param({"token": "old", "tokenFile": "token"}, "Bearer from-file", id="a-token-file-goes-first"),
        pytest.param({"username": "a", "password": "b"}, "Basic YTpi", id="password"),
        pytest.param({}, "", id="nobody"),
    ],
)
async def test_authorization(tmp_path: Path, user: Manifest, expected: str) -> None:
    (tmp_path / "token").write_text("from-file")
    assert await authorization(load(tmp_path, a_kubeconfig(user=user))) == expected


def test_an_exec_plugin_gets_its_environment_and_its_cluster(tmp_path: Path) -> None:
    plugin = {
        "apiVersion": V1,
        "command": "./bin/helper",
        "args": ["--quiet"],
        "env": [{"name": "PROFILE", "value": "work"}],
        "provideClusterInfo": True,
        "installHint": "see the handbook",
    }
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    content = a_kubeconfig(server="https://s", cluster={"extensions": [extension]}, user={"exec": plugin})
    identity = load(tmp_path, content, PATH="/bin").identity
    assert isinstance(identity, ExecPlugin)
    command = identity.command
    assert command.argv == (str(tmp_path / "bin/helper"), "--quiet")
    assert command.env == {"PATH": "/bin", "PROFILE": "work"}
    assert command.cluster == {"server": "https://s", "config": {"audience": "x"}}
    assert command.install_hint == "see the handbook"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(
            a_kubeconfig(user={"auth-provider": {"name": "x"}}), "auth-provider is not supported", id="legacy"
        ),
        pytest.param(a_kubeconfig(user={"as": "root"}), "as is not supported", id="impersonation"),
        pytest.param(
            a_kubeconfig(user={"exec": {"apiVersion": "client.authentication.k8s.io/v1alpha1", "command": "x"}}),
            "v1alpha1 is not supported",
            id="an-exec-version-of-old",
        ),
        pytest.param(
            a_kubeconfig(user={"exec": {"apiVersion": V1, "command": "x", "interactiveMode": "Always"}}),
            "nobody is there",
            id="an-exec-plugin-that-wants-a-person",
        ),
        pytest.param(a_kubeconfig(user={"client-certificate-data": "%%"}), "base64", id="not-base64"),
        pytest.param(a_kubeconfig(user={"client-key-data": "eA=="}), "belong together", id="half-a-key-pair"),
        pytest.param(a_kubeconfig() | {"current-context": "other"}, "context 'other' not found", id="unknown-context"),
        pytest.param(a_kubeconfig() | {"clusters": []}, "here", id="unknown-cluster"),
        pytest.param({"kind": "Config"}, "no current-context", id="nothing-in-it"),
        pytest.param([], "not a kubeconfig", id="another-shape"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, content: Manifest, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as caught:
        load(tmp_path, content)
    assert str(caught.value).startswith(f"kubeconfig {tmp_path}/config: ")


def test_text_that_is_not_yaml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("{")
    with pytest.raises(ConfigurationError, match=f"{path}: not YAML"):
        load_kubeconfig([path], {})


async def test_of_several_files_the_first_that_names_an_entry_wins(tmp_path: Path) -> None:
    for folder, token in (("one", "t1"), ("two", "t2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "token").write_text(token)
    first: Manifest = {"users": [{"name": "me", "user": {"tokenFile": "token"}}]}
    second = a_kubeconfig(server="https://second", user={"tokenFile": "token"})
    (tmp_path / "one/config").write_text(yaml.safe_dump(first))
    (tmp_path / "two/config").write_text(yaml.safe_dump(second))
    paths = [tmp_path / "missing", tmp_path / "one/config", tmp_path / "two/config"]
    found = load_kubeconfig(paths, {})
    assert (found.server, found.namespace, await authorization(found)) == ("https://second", "shop", "Bearer t1")
