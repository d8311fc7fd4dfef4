"""Is the API server reached through the proxy that was named, by kubeconfig or environment?"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
import uvloop
import yaml

from firebolt_operator.errors import ConfigurationError, TransientError, UnansweredError
from firebolt_operator.kube import pauses
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import Credentials, load_credentials
from tests.support.connect_proxy import a_proxy
from tests.unit.kube.kubeconfigs import a_kubeconfig, a_server_context, an_authority
from tests.unit.kube.wire import CONFIG_MAPS, SETTINGS, WireServer, a_config_map, answer

HOST = "api.shop.example"  # nobody but the proxy knows where that is
SERVER = f"https://{HOST}:6443"
CONNECT = f"CONNECT {HOST}:6443"


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "RETRY_DELAYS", (0.001,))


def far_away(tmp_path: Path) -> WireServer:
    return WireServer(answer(200, a_config_map()), tls=a_server_context(an_authority(tmp_path), HOST))


def a_door(found: Credentials) -> KubeClient:
    return KubeClient.from_credentials(found, kinds=[CONFIG_MAPS])


def credentials(folder: Path, env: dict[str, str], **cluster: str) -> Credentials:
    if not (folder / "pki").exists():
        an_authority(folder)
    path = folder / "config"
    named = {name.replace("_", "-"): value for name, value in cluster.items()}
    content = a_kubeconfig(server=SERVER, cluster={"certificate-authority": "pki/ca.crt", **named})
    path.write_text(yaml.safe_dump(content))
    return load_credentials(str(path), env)


def port_of(server: WireServer) -> int:
    return int(server.url.rpartition(":")[2])


@pytest.mark.parametrize("new_loop", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_a_kubeconfig_names_its_proxy_and_wins_over_the_environment(
    new_loop: Callable[[], asyncio.AbstractEventLoop], tmp_path: Path
) -> None:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(asks_through_the_proxy_of_its_kubeconfig(tmp_path))


async def asks_through_the_proxy_of_its_kubeconfig(tmp_path: Path) -> None:
    async with far_away(tmp_path) as server, a_proxy({f"{HOST}:6443": port_of(server)}) as proxy:
        env = {"HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": HOST}
        async with a_door(credentials(tmp_path, env, proxy_url=proxy.url)) as client:
            assert await client.get(SETTINGS) == a_config_map()
            assert await client.apply(a_config_map()) == a_config_map()
        assert proxy.asked == [CONNECT]  # one connection, kept
        assert [request.target.partition("?")[0] for request in server.requests] == [
            "/api/v1/namespaces/shop/configmaps/settings"
        ] * 2


async def test_the_environment_names_a_proxy_for_a_pod_too(tmp_path: Path) -> None:
    for name, content in (("token", "t0ken"), ("namespace", "shop")):
        (tmp_path / name).write_text(content)
    authority = an_authority(tmp_path)
    (tmp_path / "ca.crt").write_bytes(authority.pair.certificate.read_bytes())
    tls = a_server_context(authority, "10.96.0.1")
    async with (
        WireServer(answer(200, a_config_map()), tls=tls) as server,
        a_proxy({"10.96.0.1:443": port_of(server)}) as proxy,
    ):
        env = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "HTTPS_PROXY": proxy.url}
        found = load_credentials("", env, service_account=tmp_path)
        async with a_door(found) as client:
            assert await client.get(SETTINGS) == a_config_map()
        assert proxy.asked == ["CONNECT 10.96.0.1:443"]
        exempt = load_credentials("", {**env, "NO_PROXY": "10.96.0.0/16"}, service_account=tmp_path)
        assert exempt.proxy is None


async def test_a_proxy_may_want_a_password(tmp_path: Path) -> None:
    async with far_away(tmp_path) as server, a_proxy({f"{HOST}:6443": port_of(server)}, login="me:p@ss") as proxy:
        env = {"HTTPS_PROXY": f"http://me:p%40ss@127.0.0.1:{proxy.port}"}
        async with a_door(credentials(tmp_path, env)) as client:
            assert await client.get(SETTINGS) == a_config_map()
        async with a_door(credentials(tmp_path, {"HTTPS_PROXY": proxy.url})) as client:
            with pytest.raises(TransientError, match="the proxy refused to connect us: 407 Proxy Auth") as caught:
                await client.apply(a_config_map())
    assert not isinstance(caught.value, UnansweredError)


async def test_given_a_proxy_that_is_not_there_then_it_is_named(tmp_path: Path) -> None:
    env = {"HTTPS_PROXY": "http://127.0.0.1:1"}
    async with a_door(credentials(tmp_path, env)) as client:
        with pytest.raises(TransientError, match=r"cannot connect to 127\.0\.0\.1:1"):
            await client.get(SETTINGS)


def test_a_proxy_of_another_sort_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"config: proxy-url: only http:// proxies are supported, not 'socks5'"
    ):
        credentials(tmp_path, {}, proxy_url="socks5://corner:1080")
