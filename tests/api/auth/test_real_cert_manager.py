"""The same with cert-manager's own controllers: what they store of a request, renew around a key, and leave."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

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
from tests.api.auth.people import LOCAL, Administrator
from tests.api.auth.running import running_operator
from tests.support.clients import written_by
from tests.support.crds import install_crds

pytestmark = pytest.mark.slow
NAMESPACE, FIRST = "default", "inst-auth-signing"
ISSUER: Manifest = {
    "apiVersion": "cert-manager.io/v1",
    "kind": "Issuer",
    "metadata": {"name": "jwt-ca"},
    "spec": {"selfSigned": {}},
}
KEYS: Manifest = {**LOCAL["signingKeys"], "certManager": {"issuerRef": {"name": "jwt-ca", "kind": "Issuer"}}}
AUTH: Manifest = {"enabled": True, "local": {**LOCAL, "signingKeys": KEYS}}


async def test_a_key_is_issued_renewed_around_and_rotated(
    fresh_control_plane: Callable[..., ControlPlane], built_programs: dict[str, Path], tmp_path: Path
) -> None:
    plane = fresh_control_plane(simulated_pods=True)
    SimulatedPods(plane, built_programs).start()
    install_crds(plane.kubeconfig)
    program = provision.provide(provision.CERTIFICATES)["cert-manager"]
    manager = CertManager(http=plane.http, kubeconfig=plane.kubeconfig, program=program, folder=tmp_path)
    await asyncio.to_thread(manager.start)
    plane.http.create(f"{GROUP}/namespaces/{NAMESPACE}/issuers", ISSUER)
    async with (
        KubeClient.from_credentials(load_credentials(str(plane.kubeconfig), {}), kinds=KINDS) as client,
        running_operator(plane.kubeconfig, NAMESPACE) as operator,
    ):
        door = written_by(client, "somebody")
        administrator = Administrator(door, NAMESPACE)
        await administrator.make_password()
        await administrator.make_instance(auth=AUTH)
        await administrator.make_engine()
        await administrator.until_serving(0)
        await operator.settled()
        operator.requests.seen.clear()
        operator.nudge()
        await operator.settled()
        assert operator.requests.seen == {}  # what is stored is what we asked for

        before = (await administrator.read(SECRETS, FIRST))["data"]
        await asyncio.to_thread(manager.renew, NAMESPACE, FIRST)
        renewed = await administrator.until(
            SECRETS, FIRST, lambda found: found is not None and found["data"]["tls.crt"] != before["tls.crt"]
        )
        assert renewed is not None
        assert renewed["data"]["tls.key"] == before["tls.key"]
        await operator.settled()
        assert (await administrator.until_serving(0))["status"]["currentGeneration"] == 0

        operator.skip(timedelta(hours=721))
        await administrator.until_keys(operator, signing_1="ValidationOnly", signing_2="Active")
        await administrator.until_serving(2)
        operator.skip(timedelta(hours=26))
        await administrator.until_instance(
            lambda found: found.status.auth and found.status.auth.signing_keys[0].retire_eligible_at, operator
        )
        operator.skip(timedelta(hours=26))
        await administrator.until_keys(operator, signing_2="Active")
        await administrator.until(SECRETS, FIRST, lambda found: found is None)
        assert await administrator.names(CERTIFICATES) == {"inst-auth-signing-signing-2"}

        await administrator.delete(FIREBOLT_INSTANCES, "inst")
        await administrator.until(SECRETS, "inst-auth-signing-signing-2", lambda found: found is None)
        assert await administrator.names(CERTIFICATES) == set()
    manager.stop_controllers()
