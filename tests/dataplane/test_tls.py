"""TLS on both sides of a real Envoy: who is let in, whom it speaks to, and what it passes on."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from firebolt_operator.gateway.envoy.transport import downstream_tls, upstream_tls
from firebolt_operator.gateway.inputs import GatewayTLS
from tests.support.dataplane.client import Client, ConnectionEndedError
from tests.support.dataplane.rig import NAMESPACE, Rig, eventually, running_rig, service_host
from tests.support.pki import Authority, Leaf, client_side, server_side

GATEWAY: Final = "inst-gateway.ns.svc.cluster.local"
ENGINES, CLIENTS, STRANGERS = Authority("engines"), Authority("clients"), Authority("strangers")
GATEWAYS: Final = Authority("gateways")
PODS: Final = f"*.eng-g0-hl.{NAMESPACE}.svc.cluster.local"
REFUSED: Final = (ConnectionEndedError, ssl.SSLError, ConnectionError)


def engine_leaf(authority: Authority = ENGINES, host: str = "") -> Leaf:
    return authority.leaf(PODS, host or service_host("eng"), "localhost")


TOMORROW, REVOKED = Authority(ENGINES.name), engine_leaf()


def write(folder: Path, **texts: str) -> None:
    """By folder and key: client_ca__ca_crt."""
    for name, text in texts.items():
        place, _, key = name.partition("__")
        path = folder / place.replace("_", "-") / key.replace("_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


@asynccontextmanager
async def secured(
    folder: Path, *, trusted: str = "", is_mutual: bool = False, crl: str = "", engine_crl: str = "", wake: bool = False
) -> AsyncGenerator[Rig]:
    leaf = GATEWAYS.leaf("inst-gateway", GATEWAY)
    write(folder, gateway__tls_crt=leaf.certificate, gateway__tls_key=leaf.key)
    write(folder, engine_ca__ca_crt=trusted or ENGINES.pem, client_ca__ca_crt=CLIENTS.pem, client_crl__crl_pem=crl)
    write(folder, engine_crl__crl_pem=engine_crl)
    tls = GatewayTLS(
        downstream=downstream_tls(asks_for_certificate=is_mutual, has_crl=bool(crl)),
        upstream=upstream_tls(NAMESPACE, has_crl=bool(engine_crl)),
    )
    async with running_rig(folder, tls=tls, wake=wake) as rig:
        rig.client.tls, rig.client.host = client_side(folder, GATEWAYS), GATEWAY
        yield rig


def client_with(rig: Rig, folder: Path, leaf: Leaf | None) -> Client:
    return Client(rig.client.address, rig.client.port, tls=client_side(folder, GATEWAYS, leaf), host=GATEWAY)


async def is_logged(rig: Rig) -> bool:
    return any("engine=eng" in line and " 200 " in line for line in rig.envoy.access_log())


async def refuses(client: Client) -> bool:
    """Envoy tells a client of TLS 1.3 only after the handshake that its certificate will not do."""
    try:
        await client.query()
    except REFUSED:
        return True
    return False


async def test_a_query_goes_through_encrypted_and_what_it_carries_arrives(tmp_path: Path) -> None:
    async with secured(tmp_path) as rig:
        rig.point("eng", [await rig.pod(server_side(tmp_path, engine_leaf()))])
        answer = await rig.client.query(headers={"Authorization": "Bearer a.b.c", "X-Extra": "1"})
        assert (answer.status, answer.body) == (200, b"1\n")
        (run,) = rig.ledger.executions
        assert run.headers["authorization"] == "Bearer a.b.c"
        assert run.headers["x-extra"] == "1"
        assert rig.pods[0].health_checks > 0
        assert await rig.envoy.stat("listener." + f"{rig.address}_8080.ssl.handshake") > 0
        await eventually(lambda: is_logged(rig), 5, "the query is in the access log")
        plain = Client(rig.client.address, rig.client.port)
        with pytest.raises(ConnectionEndedError):
            await plain.query()


async def test_probes_and_metrics_stay_plain(tmp_path: Path) -> None:
    async with secured(tmp_path, is_mutual=True) as rig:
        metrics = Client(rig.address, 9090)
        assert (await metrics.get("/healthz")).status == 200
        assert b"envoy_" in (await metrics.get("/stats/prometheus")).body
        metrics.close()


@pytest.mark.parametrize(
    "leaf",
    [
        pytest.param(engine_leaf(STRANGERS), id="of-another-ca"),
        pytest.param(ENGINES.leaf(f"postgres.{NAMESPACE}.svc.cluster.local"), id="of-another-workload"),
        pytest.param(ENGINES.leaf("eng-service.other.svc.cluster.local"), id="of-another-namespace"),
        pytest.param(engine_leaf(host=service_host("other")), id="of-another-engine"),
    ],
)
async def test_whoever_cannot_prove_to_be_the_engine_gets_no_query(tmp_path: Path, leaf: Leaf) -> None:
    async with secured(tmp_path) as rig:
        rig.point("eng", [await rig.pod(server_side(tmp_path, leaf))])
        answer = await rig.client.query()
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert rig.ledger.executions == []


async def test_an_engine_that_speaks_plaintext_gets_no_query(tmp_path: Path) -> None:
    async with secured(tmp_path) as rig:
        rig.point("eng", [await rig.pod()])
        answer = await rig.client.query()
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert rig.ledger.executions == []


async def test_a_gateway_that_speaks_plaintext_cannot_tell_what_an_engine_with_tls_made_of_a_query(
    tmp_path: Path,
) -> None:
    async with running_rig(tmp_path) as rig:
        rig.point("eng", [await rig.pod(server_side(tmp_path, engine_leaf()))])
        answer = await rig.client.query()
        assert (answer.status, answer.headers["x-firebolt-outcome"]) == (503, "unknown")
        assert rig.ledger.executions == []


async def test_while_a_ca_is_replaced_both_are_trusted(tmp_path: Path) -> None:
    """Both have the same name, as they do when cert-manager renews the certificate of an issuer."""
    authorities = [ENGINES, Authority(ENGINES.name), Authority("of another name")]
    async with secured(tmp_path, trusted="\n".join(each.pem.strip() for each in authorities)) as rig:
        pods = [await rig.pod(server_side(tmp_path, engine_leaf(each))) for each in authorities]
        rig.point("eng", pods)
        answers = [await rig.client.query() for _ in range(40)]
        assert {each.status for each in answers} == {200}
        assert {each.headers["x-pod"] for each in answers} == {pod.address for pod in pods}


@pytest.mark.parametrize(
    ("leaf", "status"),
    [
        pytest.param(engine_leaf(), 200, id="of-a-ca-with-a-list"),
        pytest.param(REVOKED, 503, id="revoked"),
        pytest.param(engine_leaf(TOMORROW), 503, id="of-a-ca-without"),
    ],
)
async def test_whom_no_list_speaks_for_is_refused_like_who_was_revoked(tmp_path: Path, leaf: Leaf, status: int) -> None:
    """So engines are not told of a CA before there is a list for it."""
    both, lists = f"{ENGINES.pem}{TOMORROW.pem}", ENGINES.revoked([REVOKED.serial])
    async with secured(tmp_path, trusted=both, engine_crl=lists) as rig:
        rig.point("eng", [await rig.pod(server_side(tmp_path, leaf))])
        assert (await rig.client.query()).status == status


async def test_clients_without_a_certificate_of_theirs_are_refused(tmp_path: Path) -> None:
    revoked = CLIENTS.leaf(common="revoked")
    async with secured(tmp_path, is_mutual=True, crl=CLIENTS.revoked([revoked.serial])) as rig:
        rig.point("eng", [await rig.pod(server_side(tmp_path, engine_leaf()))])
        known = client_with(rig, tmp_path, CLIENTS.leaf(common="known"))
        assert (await known.query()).status == 200
        known.close()
        others = {"nobody": None, "a stranger": STRANGERS.leaf(), "somebody revoked": revoked}
        let_in = [who for who, leaf in others.items() if not await refuses(client_with(rig, tmp_path, leaf))]
        assert let_in == []
        assert len(rig.ledger.executions) == 1


async def test_a_held_query_is_answered_through_tls(tmp_path: Path) -> None:
    async with secured(tmp_path, wake=True) as rig:
        pod = await rig.pod(server_side(tmp_path, engine_leaf()))
        rig.point("eng", [pod])
        assert (await rig.client.query()).status == 200
        assert rig.agent.asked == {"eng": 1}


async def test_a_closed_gateway_refuses_connections_and_answers_probes(tmp_path: Path) -> None:
    async with running_rig(tmp_path, tls=GatewayTLS(is_closed=True)) as rig:
        with pytest.raises(ConnectionRefusedError):
            await rig.client.query()
        metrics = Client(rig.address, 9090)
        assert (await metrics.get("/healthz")).status == 200
        metrics.close()
