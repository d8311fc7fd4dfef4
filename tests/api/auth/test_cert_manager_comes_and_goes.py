"""cert-manager comes after the operator, and goes again: whoever needs it waits, whoever has a key goes on."""

from collections.abc import Callable

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.api.resources import CERTIFICATES, SECRETS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.wiring.operate import KINDS
from tests.api.auth.people import AUTH, Administrator, key_phases
from tests.api.auth.running import running_operator
from tests.support.cert_manager import DEFINITION, install_certificates, running_cert_manager
from tests.support.clients import written_by
from tests.support.crds import install_crds
from tests.support.kubectl import kubectl

FIRST = "inst-auth-signing"


async def test_given_a_cluster_without_cert_manager_then_it_is_waited_for_and_may_go_again(
    fresh_control_plane: Callable[..., ControlPlane],
) -> None:
    kubeconfig = fresh_control_plane().kubeconfig
    install_crds(kubeconfig)
    async with (
        KubeClient.from_credentials(load_credentials(str(kubeconfig), {}), kinds=KINDS) as client,
        running_operator(kubeconfig, "default", is_confined=False) as operator,
    ):
        door = written_by(client, "somebody")
        administrator = Administrator(door, "default")
        await administrator.make_password()
        await administrator.make_instance(auth=AUTH)
        waiting = await administrator.until_auth("SigningKeyPending")
        assert "cert-manager, which is not installed" in waiting.message
        install_certificates(kubeconfig)
        async with running_cert_manager(door, "default"):
            await administrator.until_auth("Ready")
        uid = (await administrator.read(CERTIFICATES, FIRST))["metadata"]["uid"]
        kubectl(kubeconfig, ("delete", "-f", str(DEFINITION), "--timeout=60s"))
        await operator.until_not_served()
        await operator.next_pass()
        # Its Secret is all that a key needs.
        assert (await administrator.until_auth("Ready")).is_true
        assert key_phases(await administrator.instance()) == {"signing-1": "Active"}
        assert await administrator.find(SECRETS, FIRST) is not None
        install_certificates(kubeconfig)
        made = await administrator.until(CERTIFICATES, FIRST, lambda found: found is not None)
        assert made is not None
        assert made["metadata"]["uid"] != uid
