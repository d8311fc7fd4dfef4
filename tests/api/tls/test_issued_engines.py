"""The same with cert-manager's own controllers and a CA: what they issue verifies, is renewed, and goes."""

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from firebolt_local.cluster.cert_manager import GROUP, CertManager
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_local.programs import provision
from firebolt_operator.api.resources import CERTIFICATES, FIREBOLT_ENGINES, SECRETS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.refs import Manifest
from firebolt_operator.wiring.operate import KINDS
from tests.api.auth.running import running_operator
from tests.api.tls.people import Owner
from tests.support.clients import written_by
from tests.support.crds import install_crds

pytestmark = pytest.mark.slow
NAMESPACE = "default"
LISTENER: Manifest = {"enabled": True, "certManager": {"issuerRef": {"name": "engine-ca", "kind": "Issuer"}}}
OF_ENGINE = "firebolt.io/engine=eng"


def an_authority(plane: ControlPlane) -> None:
    """Somebody who signs themselves makes a CA, and that one issues."""
    place = f"{GROUP}/namespaces/{NAMESPACE}"
    api = {"apiVersion": "cert-manager.io/v1"}
    plane.http.create(
        f"{place}/issuers", {**api, "kind": "Issuer", "metadata": {"name": "root"}, "spec": {"selfSigned": {}}}
    )
    asked = {
        "secretName": "engine-ca",
        "isCA": True,
        "commonName": "engines",
        "issuerRef": {"name": "root", "kind": "Issuer"},
        "privateKey": {"algorithm": "ECDSA", "size": 256},
    }
    plane.http.create(
        f"{place}/certificates", {**api, "kind": "Certificate", "metadata": {"name": "engine-ca"}, "spec": asked}
    )
    issuer = {"ca": {"secretName": "engine-ca"}}
    plane.http.create(f"{place}/issuers", {**api, "kind": "Issuer", "metadata": {"name": "engine-ca"}, "spec": issuer})


def verified_as(secret: Manifest, host: str) -> None:
    """As the gateway does: the CA of the Secret, and the name."""
    texts = {key: base64.b64decode(value) for key, value in secret["data"].items()}
    store = Store(x509.load_pem_x509_certificates(texts["ca.crt"]))
    leaf, *others = x509.load_pem_x509_certificates(texts["tls.crt"])
    PolicyBuilder().store(store).build_server_verifier(x509.DNSName(host)).verify(leaf, others)


async def test_a_certificate_for_each_generation_is_issued_renewed_and_gone(
    fresh_control_plane: Callable[..., ControlPlane], built_programs: dict[str, Path], tmp_path: Path
) -> None:
    plane = fresh_control_plane(simulated_pods=True)
    SimulatedPods(plane, built_programs).start()
    install_crds(plane.kubeconfig)
    program = provision.provide(provision.CERTIFICATES)["cert-manager"]
    manager = CertManager(http=plane.http, kubeconfig=plane.kubeconfig, program=program, folder=tmp_path)
    await asyncio.to_thread(manager.start)
    an_authority(plane)
    async with (
        KubeClient.from_credentials(load_credentials(str(plane.kubeconfig), {}), kinds=KINDS) as client,
        running_operator(plane.kubeconfig, NAMESPACE) as operator,
    ):
        door = written_by(client, "somebody")
        owner = Owner(door, NAMESPACE)
        await owner.make_instance(tls={"engine": LISTENER})
        await owner.make_engine()
        await owner.until_serving(0)
        await owner.until_said("EngineTLSReady", "Ready")
        secret = await owner.read(SECRETS, "eng-g0-engine-tls")
        verified_as(secret, f"eng-g0-0.eng-g0-hl.{NAMESPACE}.svc.cluster.local")
        verified_as(secret, f"eng-service.{NAMESPACE}.svc.cluster.local")
        await operator.settled()
        operator.requests.seen.clear()
        operator.nudge()
        await operator.settled()
        assert operator.requests.seen == {}  # what is stored is what we asked for

        await asyncio.to_thread(manager.renew, NAMESPACE, "eng-g0-engine-tls")
        await owner.until_serving(1)
        await owner.until(SECRETS, "eng-g0-engine-tls", lambda found: found is None)
        assert await owner.names(CERTIFICATES, OF_ENGINE) == {"eng-g1-engine-tls"}

        await owner.delete(CERTIFICATES, "eng-g1-engine-tls")
        await owner.until(CERTIFICATES, "eng-g1-engine-tls", lambda found: found is not None)
        await operator.settled()
        # It was made anew around the Secret that is there: nothing was issued.
        assert (await owner.until_serving(1))["status"]["currentGeneration"] == 1

        await owner.delete(FIREBOLT_ENGINES, "eng")
        await owner.until(FIREBOLT_ENGINES, "eng", lambda found: found is None)
        assert await owner.names(CERTIFICATES, OF_ENGINE) == set()
        assert await owner.names(SECRETS, OF_ENGINE) == set()
    manager.stop_controllers()
