"""The gateway's listener is closed before it is tightened, and opens with its certificate."""

import asyncio
import base64
from pathlib import Path

from firebolt_local.cluster.control_plane import ControlPlane
from tests.api.auth.running import Operator
from tests.api.tls.people import ISSUED, MUTUAL, OWN, Owner, config_hash, mounted
from tests.support.cert_manager import CertManager
from tests.support.kubectl import kubectl


def fetched_authority(kubeconfig: Path, namespace: str) -> str:
    """As docs/tls.md has it."""
    kubectl(kubeconfig, ("wait", f"--namespace={namespace}", "--for=condition=Ready", "fire/inst", "--timeout=5m"))
    path = "jsonpath={.data.ca\\.crt}"
    found = kubectl(kubeconfig, ("get", "secret", f"--namespace={namespace}", "inst-gateway-tls", "--output", path))
    return base64.b64decode(found).decode()


async def test_with_a_certificate_of_cert_managers(
    owner: Owner, operator: Operator, cert_manager: CertManager, control_plane: ControlPlane
) -> None:
    cert_manager.is_waiting = True
    await owner.make_instance(tls={"gateway": ISSUED})
    found = await owner.until_said("GatewayTLSReady", "CertificatePending")
    assert found.status.gateway_tls is None
    assert set(await owner.listeners()) == {"stats_listener"}
    closed = await owner.gateway()
    assert closed["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": "100%", "maxSurge": 0}
    assert mounted(closed) == set()
    cert_manager.is_waiting = False
    found = await owner.until_said("GatewayTLSReady", "Ready")
    assert found.status.gateway_tls is not None
    assert (found.status.gateway_tls.secret_name, found.status.gateway_tls.mode) == ("inst-gateway-tls", "TLS")
    assert (await owner.listeners())["listener"] is not None
    opened = await owner.until_gateway(lambda each: mounted(each) == {"inst-gateway-tls"})
    assert opened["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": "25%"}
    await owner.until_said("Ready", "AllComponentsReady")
    fetched = await asyncio.to_thread(fetched_authority, control_plane.kubeconfig, owner.namespace)
    assert fetched == "CA-1"
    await operator.settled()
    operator.requests.seen.clear()
    operator.nudge()
    await operator.settled()
    assert operator.requests.seen == {}  # at rest it costs nothing

    await cert_manager.renew("inst-gateway-tls")
    renewed = await owner.until_gateway(lambda each: config_hash(each) != config_hash(opened))
    assert mounted(renewed) == {"inst-gateway-tls"}
    assert (await owner.until_said("GatewayTLSReady", "Ready")).status.gateway_tls == found.status.gateway_tls


async def test_turned_on_under_a_gateway_that_serves_plaintext(owner: Owner, operator: Operator) -> None:
    del operator
    await owner.make_instance()
    await owner.until_said("Ready", "AllComponentsReady")
    assert (await owner.listeners())["listener"] is None
    await owner.ask_for(gateway=OWN)
    await owner.until_said("GatewayTLSReady", "SecretPending")
    assert set(await owner.listeners()) == {"stats_listener"}
    await owner.make_certificate()
    await owner.until_said("GatewayTLSReady", "Ready")
    assert (await owner.listeners())["listener"] is not None
    await owner.ask_for(gateway=None)
    found = await owner.until_said("GatewayTLSReady", "Disabled")
    assert found.status.gateway_tls is None
    await owner.until_gateway(lambda each: mounted(each) == set())
    assert (await owner.listeners())["listener"] is None


async def test_clients_that_need_a_certificate(owner: Owner, operator: Operator) -> None:
    del operator
    await owner.make_certificate()
    await owner.make_instance(tls={"gateway": OWN})
    await owner.until_said("GatewayTLSReady", "Ready")
    await owner.ask_for(gateway=MUTUAL)
    waiting = await owner.until_said("GatewayTLSReady", "SecretPending")
    assert waiting.status.gateway_tls is None  # the old listener would let in everybody
    await owner.until_gateway(lambda each: mounted(each) == set())
    assert set(await owner.listeners()) == {"stats_listener"}
    await owner.make_client_authority()
    found = await owner.until_said("GatewayTLSReady", "Ready")
    assert found.status.gateway_tls is not None
    assert found.status.gateway_tls.mode == "MutualTLS"
    socket = (await owner.listeners())["listener"]
    assert socket is not None
    assert socket["typed_config"]["require_client_certificate"] is True
    assert mounted(await owner.gateway()) == {"own", "clients"}
