"""A list of revoked certificates that Envoy would trip over never reaches a gateway that works."""

import base64
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import SECRETS
from firebolt_operator.refs import Manifest
from tests.api.auth.running import Operator
from tests.api.tls.people import MUTUAL, Owner, config_hash, mounted
from tests.support.self_signed import a_private_key, revocations

REVOKING: Final[Manifest] = {**MUTUAL, "crlSecretRef": {"name": "revoked"}}
REASON: Final = "CRLSecretPreflightFailed"


def der(pem: str) -> str:
    binary = x509.load_pem_x509_crl(pem.encode()).public_bytes(Encoding.DER)
    return base64.b64encode(binary).decode()


async def test_a_list_is_tried_before_it_is_given_to_the_gateway(owner: Owner, operator: Operator) -> None:
    key = a_private_key()
    await owner.make_certificate()
    await owner.make_client_authority(key)
    await owner.make_instance(tls={"gateway": MUTUAL})
    before = (await owner.until_said("Ready", "AllComponentsReady")).status.gateway_tls
    served = await owner.gateway()

    await owner.ask_for(gateway=REVOKING)
    found = await owner.until_said("GatewayReady", REASON)
    place = f"gateway client CRL secret {owner.namespace}/revoked"
    assert message(found) == f"{place} not found"
    assert (found.status.gateway_ready, found.status.gateway_endpoint) == (False, "")
    assert found.status.gateway_tls == before
    await owner.make_secret("revoked", {"other": "x"})
    missing = await owner.until_instance(lambda each: "missing" in message(each))
    assert message(missing) == f'{place} is missing or empty for key "crl.pem"'
    await owner.patch(SECRETS, "revoked", {"data": {"crl.pem": der(revocations(key))}})
    await owner.until_instance(lambda each: "PEM format" in message(each))
    await operator.settled()
    assert (await owner.gateway())["metadata"]["generation"] == served["metadata"]["generation"]

    await owner.patch(SECRETS, "revoked", {"stringData": {"crl.pem": revocations(key)}})
    await owner.until_said("Ready", "AllComponentsReady")
    revoking = await owner.gateway()
    assert mounted(revoking) == {"own", "clients", "revoked"}

    await owner.patch(SECRETS, "revoked", {"stringData": {"crl.pem": "-----BEGIN X509 CRL-----\nspoilt"}})
    spoilt = await owner.until_said("GatewayReady", REASON)
    assert spoilt.status.gateway_tls == before
    await operator.settled()
    assert config_hash(await owner.gateway()) == config_hash(revoking)

    await owner.patch(SECRETS, "revoked", {"stringData": {"crl.pem": revocations(key)}})
    await owner.until_said("Ready", "AllComponentsReady")
    assert config_hash(await owner.gateway()) != config_hash(revoking)  # signed anew, and so another list


def message(instance: FireboltInstance) -> str:
    return next((each.message for each in instance.status.conditions if each.type == "GatewayReady"), "")
