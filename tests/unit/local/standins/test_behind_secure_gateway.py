"""Behind Envoy with the gateway's own TLS sockets, generations come and go without a lost query of who logged in."""

import signal
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from firebolt_local.cluster.pki import Authority, Subject
from firebolt_local.cluster.ports import free_port
from firebolt_local.testing.load import Load, Plan, steady_load
from firebolt_local.testing.tokens import Login
from firebolt_operator.api import names
from firebolt_operator.gateway.envoy.transport import downstream_tls, upstream_tls
from firebolt_operator.refs import Manifest
from tests.support.dataplane.rig import NAMESPACE, Rig, running_rig, service_host
from tests.support.standins.programs import EngineProcess, Place, ended, eventually, running_engine
from tests.support.standins.secured import PASSWORD, Secured
from tests.unit.local.standins.conftest import MetadataHealth

pytestmark = pytest.mark.slow
FLIPS = 3


def with_tls(bootstrap: Manifest, authority: Authority) -> None:
    """As the operator renders it, with files in a folder of ours."""
    (listener,) = (each for each in bootstrap["static_resources"]["listeners"] if each["name"] == "listener")
    (cluster,) = (each for each in bootstrap["static_resources"]["clusters"] if "forward_proxy" in each["name"])
    address = listener["address"]["socket_address"]["address"]
    pair = authority.issue("gateway", Subject("gateway", hosts=[address]))
    files = {
        "/etc/envoy/tls/gateway/tls.crt": pair.certificate,
        "/etc/envoy/tls/gateway/tls.key": pair.key,
        "/etc/envoy/tls/engine-ca/ca.crt": authority.pair.certificate,
    }
    (chain,) = listener["filter_chains"]
    chain["transport_socket"] = _moved(downstream_tls(), files)
    cluster["transport_socket"] = _moved(upstream_tls(NAMESPACE), files)


def _moved(part: Any, files: dict[str, Path]) -> Any:
    if isinstance(part, dict):
        return {key: _moved(value, files) for key, value in part.items()}
    if isinstance(part, list):
        return [_moved(value, files) for value in part]
    return str(files.get(part, part)) if isinstance(part, str) else part


@asynccontextmanager
async def an_engine(
    secured: Secured, rig: Rig, metadata_health: MetadataHealth, *, number: int
) -> AsyncGenerator[EngineProcess]:
    address = f"{rig.address.rpartition('.')[0]}.{number + 2}"
    hosts = [address, service_host("eng")]
    secured.mount_certificate(secured.authority.issue(f"generation-{number}", Subject("engine", hosts=hosts)))
    document = secured.document(metadata_health.port)
    document["engine"]["nodes"] = [{"host": address}]
    place = Place(query=names.PORT_QUERY, health=free_port(), metrics=free_port(), address=address)
    patience = {"STANDIN_LAST_WORDS_SECONDS": "50"}
    async with running_engine(secured.folder, document, place=place, environment=patience) as engine:
        await eventually(engine.is_ready, "the engine is ready")
        yield engine


async def test_given_queries_all_the_time_when_generations_change_then_none_is_lost(
    tmp_path: Path, metadata_health: MetadataHealth
) -> None:
    authority = Authority(tmp_path / "ca")
    keys = {1: ec.generate_private_key(ec.SECP384R1())}
    generations = [
        Secured(folder=tmp_path / f"generation-{number}", authority=authority, keys=keys) for number in range(FLIPS + 1)
    ]
    async with AsyncExitStack() as stack:
        rig = await stack.enter_async_context(
            running_rig(tmp_path, change=lambda bootstrap: with_tls(bootstrap, authority))
        )
        active = await stack.enter_async_context(an_engine(generations[0], rig, metadata_health, number=0))
        rig.zone.set(service_host("eng"), active.address)
        url = f"https://{rig.address}:{names.PORT_GATEWAY}/"
        login = Login(url=url, engine="eng", password=PASSWORD)
        # Few at a time: on a busy machine the answers set the pace.
        plan = Plan(url=url, engine="eng", tls=generations[0].client_context(), login=login, per_second=20, most_open=4)
        async with steady_load(plan) as load:
            for number in range(1, FLIPS + 1):
                old = active
                active = await stack.enter_async_context(
                    an_engine(generations[number], rig, metadata_health, number=number)
                )
                await _has_answered(old)
                rig.zone.set(service_host("eng"), active.address)
                old.process.send_signal(signal.SIGTERM)
                assert await ended(old.process) == 0
            await _has_answered(active)
        _check(load)
        async with aiohttp.ClientSession() as stranger:
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await stranger.get(url)
        assert rig.envoy.complaints() == []


def _check(load: Load) -> None:
    assert [answer.problem for answer in load.answers if not answer.is_good] == []
    assert len(load.answers) > FLIPS
    assert load.tokens is not None
    assert load.tokens.given == 1  # signed by the first generation, believed by all


async def _has_answered(engine: EngineProcess) -> None:
    async def is_so() -> bool:
        return bool(await engine.measure("firebolt_queries_succeeded_total"))

    await eventually(is_so, "the engine has answered a query")
