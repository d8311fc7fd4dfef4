"""A server that was restored from a backup: its versions went back, and what it says counts."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Final

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.errors import TransientError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.ports import Scope, WatchEvent
from firebolt_operator.runtime.informer import ASK_SECONDS
from tests.api.runtime.config_maps import CONFIG_MAPS, a_cache, a_config_map, following, ref_to, server_state

NAMESPACE: Final = "default"
ASK_SOON: Final = 2.0  # seconds


class BehindAProxy(KubeClient):
    """A proxy on the way never lets a watch break: it opens another one towards the server, where the last one was."""

    async def watch(self, scope: Scope, /, *, resource_version: str) -> AsyncGenerator[WatchEvent]:
        while True:
            try:
                async with aclosing(super().watch(scope, resource_version=resource_version)) as events:
                    async for event in events:
                        yield event
            except TransientError:
                await asyncio.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("client_kind", "ask_seconds"),
    [
        pytest.param(KubeClient, ASK_SECONDS, id="after-a-broken-watch-at-once"),
        pytest.param(BehindAProxy, ASK_SOON, id="behind-a-silent-watch-when-it-asks"),
    ],
)
async def test_given_a_restored_backup_then_the_cache_becomes_what_the_server_is(
    fresh_control_plane: Callable[..., ControlPlane], client_kind: type[KubeClient], ask_seconds: float
) -> None:
    plane = fresh_control_plane(controllers=(), scheduler=False)
    async with a_client(plane.kubeconfig, client_kind) as client, a_client(plane.kubeconfig) as writer:
        for name in ("kept", "changed", "removed"):
            await writer.apply(a_config_map(NAMESPACE, name, value="old"))
        backup = await asyncio.to_thread(plane.back_up)
        removed = await writer.get(ref_to(NAMESPACE, "removed"))
        assert removed is not None
        await writer.delete(ref_to(NAMESPACE, "removed"), uid=removed["metadata"]["uid"])
        await writer.apply(a_config_map(NAMESPACE, "lost"))
        async with following(client, a_cache(), ask_seconds) as followed:
            for number in range(200):
                await writer.apply(a_config_map(NAMESPACE, "changed", value=str(number)))
            newest = await server_state(writer, followed.cache)
            await followed.until(lambda: followed.state() == newest)
            await asyncio.to_thread(plane.restore, backup)
            restored = await server_state(writer, followed.cache)
            assert sorted(name for _, name in restored) == ["changed", "kept", "removed"]
            await followed.until(lambda: followed.state() == restored)
            # Below the versions of before: only a watch that begins at the restored one tells of it.
            await writer.apply(a_config_map(NAMESPACE, "new"))
            latest = await server_state(writer, followed.cache)
            assert max(map(int, latest.values())) < max(map(int, newest.values()))
            await followed.until(lambda: followed.state() == latest)


def a_client(kubeconfig: Path, kind: type[KubeClient] = KubeClient) -> KubeClient:
    return kind.from_credentials(load_credentials(str(kubeconfig), {}), kinds=[CONFIG_MAPS])
