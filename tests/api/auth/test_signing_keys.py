"""From nothing to a key that signs: what is asked for, what is refused, and what is left when all is over."""

import base64

from firebolt_operator.api.names import ANNOTATION_CERTIFICATE_NAME
from firebolt_operator.api.resources import CERTIFICATES, FIREBOLT_INSTANCES, SECRETS
from firebolt_operator.refs import Manifest
from tests.api.auth.people import ADMIN, AUTH, LOCAL, Administrator, key_phases
from tests.api.auth.running import Operator
from tests.support.cert_manager import CertManager
from tests.support.self_signed import a_private_key, private_pem, self_signed

FIRST = "inst-auth-signing"


async def test_from_nothing_to_a_key_that_signs(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    cert_manager.is_waiting = True
    await administrator.make_instance(auth=AUTH)
    missing = await administrator.until_auth("AdminSecretMissing")
    assert missing.message == f"admin password secret {administrator.namespace}/{ADMIN} not found"
    assert await administrator.names(CERTIFICATES) == set()  # nothing is made for those whom nobody could log in to
    await administrator.make_password()
    await administrator.until_auth("SigningKeyPending")
    made = await administrator.until(CERTIFICATES, FIRST, lambda found: found is not None)
    assert made is not None
    assert made["spec"] == {
        "secretName": FIRST,
        "secretTemplate": {"labels": made["metadata"]["labels"]},
        "commonName": "firebolt-jwt-signing",
        "usages": ["digital signature"],
        "issuerRef": {"name": "jwt-ca", "kind": "ClusterIssuer"},
        "duration": "8760h",
        "renewBefore": "2880h",
        # Made, and never found: whoever can write a Secret would choose it otherwise.
        "privateKey": {"rotationPolicy": "Always", "encoding": "PKCS8", "algorithm": "ECDSA", "size": 384},
    }
    assert (await administrator.instance()).status.auth is None  # an entry needs the time at which its key was there
    cert_manager.is_waiting = False
    ready = await administrator.until_auth("Ready")
    assert ready.is_true
    instance = await administrator.instance()
    assert key_phases(instance) == {"signing-1": "Active"}
    assert instance.status.auth is not None
    assert instance.status.auth.signing_key_generation == 1
    assert len(instance.status.auth.signing_keys[0].observed_public_key_fingerprint) == 64
    await administrator.until_instance(lambda found: found.status.phase == "Ready")
    await administrator.until(CERTIFICATES, FIRST, _is_kept)
    metrics = await operator.scraped()
    assert f'firebolt_instance_signing_key_generation{{name="inst",namespace="{operator.namespace}"}} 1.0' in metrics


def _is_kept(certificate: Manifest | None) -> bool:
    """A key that was seen is renewed around, not replaced."""
    return certificate is not None and certificate["spec"]["privateKey"]["rotationPolicy"] == "Never"


async def test_given_authentication_at_rest_then_a_pass_asks_nobody(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    del cert_manager
    await administrator.turn_auth_on()
    await administrator.until_instance(lambda found: found.status.phase == "Ready")
    await operator.settled()
    operator.requests.seen.clear()
    await operator.next_pass()
    await operator.next_pass()
    assert operator.requests.seen == {}


async def test_given_a_password_that_is_taken_away_then_it_says_so_and_keeps_its_keys(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    del operator, cert_manager
    await administrator.turn_auth_on()
    await administrator.patch(SECRETS, ADMIN, {"data": {"password": None}})
    missing = await administrator.until_auth("AdminSecretMissing")
    assert missing.message.endswith('is missing or empty for key "password"')
    instance = await administrator.instance()
    assert key_phases(instance) == {"signing-1": "Active"}
    assert {each.type: each.reason for each in instance.status.conditions}["Stalled"] == "AdminSecretMissing"
    await administrator.patch(SECRETS, ADMIN, {"stringData": {"password": "another"}})
    await administrator.until_auth("Ready")


async def test_given_a_key_that_somebody_planted_then_it_is_refused_until_it_is_gone(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    key = a_private_key()
    planted = {"name": FIRST, "namespace": administrator.namespace, "annotations": {ANNOTATION_CERTIFICATE_NAME: FIRST}}
    pair = {"tls.key": private_pem(key), "tls.crt": self_signed(key)}
    kind = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls"}
    await administrator.client.create({**kind, "metadata": planted, "stringData": pair})
    await operator.second_passes()
    await administrator.make_password()
    await administrator.make_instance(auth=AUTH)
    refused = await administrator.until_auth("SigningCertificateEnsureFailed")
    assert "signing key secret predates the certificate that would issue it" in refused.message
    assert (await administrator.instance()).status.auth is None
    assert await administrator.events("SigningKeyProvenanceRejected")
    kept = (await administrator.read(SECRETS, FIRST))["data"]["tls.key"]
    assert base64.b64decode(kept).decode() == private_pem(key)  # nothing is repaired behind anybody's back
    await administrator.delete(SECRETS, FIRST)
    await administrator.until_auth("Ready", operator)
    del cert_manager


async def test_given_somebody_elses_certificate_then_it_is_not_taken_over(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    del cert_manager
    theirs = await administrator.client.create(
        {
            "apiVersion": CERTIFICATES.api_version,
            "kind": CERTIFICATES.kind,
            "metadata": {"name": FIRST, "namespace": administrator.namespace},
            "spec": {"secretName": FIRST, "issuerRef": {"name": "mine"}},
        }
    )
    await administrator.make_password()
    await administrator.make_instance(auth=AUTH)
    refused = await administrator.until_auth("SigningCertificateEnsureFailed")
    assert "exists and has no owner; delete it" in refused.message
    # All the rest of the instance goes on.
    await administrator.until_instance(lambda found: found.status.metadata_ready and found.status.gateway_ready)
    assert (await administrator.read(CERTIFICATES, FIRST))["spec"] == theirs["spec"]
    await administrator.delete(CERTIFICATES, FIRST)
    await administrator.delete(SECRETS, FIRST)
    await administrator.until_auth("Ready", operator)


async def test_given_authentication_turned_off_and_on_then_no_key_comes_back(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    del cert_manager
    await administrator.turn_auth_on()
    await administrator.patch_instance({"spec": {"auth": None}})
    await administrator.until_auth("Disabled")
    instance = await administrator.instance()
    assert instance.status.auth is not None
    assert (instance.status.auth.signing_keys, instance.status.auth.signing_key_generation) == ([], 1)
    assert FIRST in await administrator.names(CERTIFICATES)
    await administrator.patch_instance({"spec": {"auth": AUTH}})
    await administrator.until_keys(operator, signing_2="Active")


async def test_given_an_issuer_that_changes_then_the_certificate_follows_and_the_key_stays(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    await administrator.turn_auth_on()
    before = (await administrator.instance()).status.auth
    cert_manager.is_waiting = True  # the reissue fails, so to speak
    other = {**LOCAL, "signingKeys": {**LOCAL["signingKeys"], "certManager": {"issuerRef": {"name": "other"}}}}
    await administrator.patch_instance({"spec": {"auth": {"local": other}}})
    await administrator.until(CERTIFICATES, FIRST, lambda found: bool(found) and _issuer(found) == "other")
    await operator.next_pass()
    after = await administrator.instance()
    assert after.status.auth == before
    await administrator.until_auth("Ready")


async def test_given_an_instance_that_is_deleted_then_its_keys_go_and_what_is_others_stays(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    del operator, cert_manager
    await administrator.turn_auth_on()
    labels = {"firebolt.io/instance": "inst", "firebolt.io/component": "auth-signing"}
    await administrator.make_secret("inst-auth-signing-mine", {"x": "y"}, labels=labels)
    await administrator.delete(FIREBOLT_INSTANCES, "inst")
    await administrator.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)
    await administrator.until(SECRETS, FIRST, lambda found: found is None)
    assert await administrator.names(CERTIFICATES) == set()
    assert {ADMIN, "inst-auth-signing-mine"} <= await administrator.names(SECRETS)


def _issuer(certificate: dict[str, dict[str, dict[str, str]]] | None) -> str:
    return certificate["spec"]["issuerRef"]["name"] if certificate else ""
