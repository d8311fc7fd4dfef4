"""The same with cert-manager's own controllers, and a real Envoy that reads what they issued."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from firebolt_local.cluster.cert_manager import GROUP, CertManager
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_local.programs import provision
from firebolt_operator.api.resources import CERTIFICATES, FIREBOLT_INSTANCES, SECRETS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.refs import Manifest
from firebolt_operator.wiring.operate import KINDS
from tests.api.auth.running import running_operator
from tests.api.tls.gateway_process import running_gateway
from tests.api.tls.people import Owner, config_hash
from tests.support.clients import written_by
from tests.support.crds import install_crds

pytestmark = pytest.mark.slow
NAMESPACE: Final = "default"
ISSUER: Final[Manifest] = {"apiVersion": "cert-manager.io/v1", "kind": "Issuer"}
AUTHORITY: Final[Manifest] = {
    "isCA": True,
    "commonName": "firebolt-tls",
    "secretName": "tls-ca",
    "privateKey": {"algorithm": "ECDSA", "size": 384, "rotationPolicy": "Always"},
    "issuerRef": {"name": "bootstrap", "kind": "Issuer"},
}
ASKED: Final[Manifest] = {"enabled": True, "certManager": {"issuerRef": {"name": "tls-ca", "kind": "Issuer"}}}


def make_issuers(plane: ControlPlane) -> None:
    """As docs/tls.md has them."""
    place = f"{GROUP}/namespaces/{NAMESPACE}"
    plane.http.create(f"{place}/issuers", {**ISSUER, "metadata": {"name": "bootstrap"}, "spec": {"selfSigned": {}}})
    authority = {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "tls-ca"}}
    plane.http.create(f"{place}/certificates", {**authority, "spec": AUTHORITY})
    by_it = {"ca": {"secretName": "tls-ca"}}
    plane.http.create(f"{place}/issuers", {**ISSUER, "metadata": {"name": "tls-ca"}, "spec": by_it})


def is_another(trusted: list[str], than: list[str]) -> bool:
    return bool(trusted) and set(trusted).isdisjoint(than)


async def test_both_sides_are_served_renewed_and_moved_to_another_ca(
    fresh_control_plane: Callable[..., ControlPlane],
    built_programs: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    plane = fresh_control_plane(simulated_pods=True)
    SimulatedPods(plane, built_programs).start()
    install_crds(plane.kubeconfig)
    program = provision.provide(provision.CERTIFICATES)["cert-manager"]
    manager = CertManager(
        http=plane.http, kubeconfig=plane.kubeconfig, program=program, folder=tmp_path_factory.mktemp("manager")
    )
    await asyncio.to_thread(manager.start)
    make_issuers(plane)
    async with (
        KubeClient.from_credentials(load_credentials(str(plane.kubeconfig), {}), kinds=KINDS) as client,
        running_operator(plane.kubeconfig, NAMESPACE) as operator,
    ):
        door = written_by(client, "somebody")
        owner = Owner(door, NAMESPACE)
        await owner.make_instance(tls={"engine": ASKED, "gateway": ASKED})
        await owner.make_engine()
        await owner.until_serving(0)
        await owner.until_said("Ready", "AllComponentsReady")
        async with running_gateway(owner, tmp_path_factory.mktemp("first"), "eng-g0-engine-tls") as gateway:
            assert (await gateway.query()).status == 200
        await operator.settled()
        operator.requests.seen.clear()
        operator.nudge()
        await operator.settled()
        assert operator.requests.seen == {}  # what is stored is what we asked for

        before = await owner.gateway()
        await asyncio.to_thread(manager.renew, NAMESPACE, "inst-gateway-tls")
        await owner.until_gateway(lambda each: config_hash(each) != config_hash(before))

        first = (await owner.instance()).status.rolled_engine_trust_cas
        old = (await owner.read(SECRETS, "tls-ca"))["data"]["tls.crt"]
        await asyncio.to_thread(manager.renew, NAMESPACE, "tls-ca")
        await owner.until(SECRETS, "tls-ca", lambda each: each is not None and each["data"]["tls.crt"] != old)
        await asyncio.to_thread(manager.renew, NAMESPACE, "eng-g0-engine-tls")
        await owner.until_serving(1)
        await owner.until_instance(lambda each: is_another(each.status.rolled_engine_trust_cas, first))
        async with running_gateway(owner, tmp_path_factory.mktemp("second"), "eng-g1-engine-tls") as gateway:
            assert (await gateway.query()).status == 200

        await owner.delete(FIREBOLT_INSTANCES, "inst")
        for name in ("inst-engine-tls", "inst-gateway-tls", "inst-engine-ca-bundle"):
            await owner.until(SECRETS, name, lambda each: each is None)
        assert not {"inst-engine-tls", "inst-gateway-tls"} & await owner.names(CERTIFICATES)
