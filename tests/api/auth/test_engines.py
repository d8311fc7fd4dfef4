"""Engines with authentication on a real API server: what they wait for, are made with, and are rolled by."""

import json

from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINES, SECRETS
from firebolt_operator.refs import Manifest
from tests.api.auth.people import ADMIN, AUTH, PASSWORD, Administrator
from tests.api.auth.running import Operator
from tests.support.cert_manager import CertManager

OKTA = {
    "name": "okta",
    "discoveryURL": "https://idp.example.com/.well-known/openid-configuration",
    "usernameMapping": "{{ email }}",
}


def instance_ready(engine: Manifest) -> str:
    conditions = engine.get("status", {}).get("conditions", [])
    return next((str(each["message"]) for each in conditions if each["type"] == "InstanceReady"), "")


async def config(administrator: Administrator, generation: int) -> Manifest:
    found = await administrator.read(CONFIG_MAPS, f"eng-g{generation}-config")
    document: Manifest = json.loads(found["data"]["config.yaml"])
    return document


async def test_from_nothing_to_an_engine_that_asks_for_tokens(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    cert_manager.is_waiting = True
    await administrator.make_instance(auth={**AUTH, "oidc": {"providers": [OKTA]}})
    await administrator.make_engine()
    await administrator.until_engine(
        lambda engine: "has auth enabled but it is not ready yet" in instance_ready(engine)
    )
    await administrator.make_password()
    cert_manager.is_waiting = False
    await administrator.until_serving(0)
    auth = (await config(administrator, 0))["instance"]["auth"]
    assert auth["enabled"] is True
    assert auth["admin"] == {"name": "firebolt", "password_file": "/secrets/auth/admin/password"}
    keys = [{"id": "signing-1", "private_key_path": "/secrets/auth/signing/signing-1/tls.key"}]
    assert (auth["local"]["signing_algorithm"], auth["local"]["signing_keys"]) == ("ES384", keys)
    assert [provider["name"] for provider in auth["oidc"]["providers"]] == ["okta"]
    statefulset = await administrator.statefulset(0)
    volumes = {each["name"]: each.get("secret") for each in statefulset["spec"]["template"]["spec"]["volumes"]}
    assert volumes["auth-admin"]["secretName"] == ADMIN
    assert volumes["auth-signing-signing-1"]["secretName"] == "inst-auth-signing"
    recorded = (await administrator.instance()).status.auth
    assert recorded is not None
    fingerprint = recorded.signing_keys[0].observed_public_key_fingerprint
    assert statefulset["metadata"]["annotations"]["firebolt.io/signing-keys"] == f"signing-1={fingerprint}"
    engine = await administrator.until_engine(lambda found: found["status"].get("observedAuthHash"))
    assert engine["status"]["observedAuthHash"] == statefulset["metadata"]["annotations"]["firebolt.io/auth-hash"]
    await operator.settled()
    operator.requests.seen.clear()
    operator.nudge()
    await operator.settled()
    assert operator.requests.seen == {}


async def test_another_password_rolls_engines_and_a_renewed_certificate_does_not(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    await administrator.make_password()
    await administrator.make_instance(auth=AUTH)
    await administrator.make_engine()
    await administrator.until_serving(0)
    await cert_manager.renew("inst-auth-signing")
    await operator.settled()
    engine = await administrator.until_serving(0)
    assert engine["status"]["currentGeneration"] == 0
    await administrator.change_password(f"{PASSWORD}!")
    await administrator.until_serving(1)


async def test_given_a_signing_key_that_is_lost_then_engines_roll_onto_the_one_that_was_made_instead(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    del cert_manager
    await administrator.make_password()
    await administrator.make_instance(auth=AUTH)
    await administrator.make_engine()
    await administrator.until_serving(0)
    before = (await administrator.instance()).status.auth
    await administrator.delete(SECRETS, "inst-auth-signing")
    await administrator.until_instance(lambda found: found.status.auth != before, operator)
    await administrator.until_serving(1)
    after = (await administrator.instance()).status.auth
    assert after is not None
    assert [key.id for key in after.signing_keys] == ["signing-2"]
    assert await administrator.events("SigningKeyMaterialRegenerated")


async def test_an_engine_that_is_stopped_wakes_with_the_keys_of_its_day(
    operator: Operator, administrator: Administrator, cert_manager: CertManager
) -> None:
    del cert_manager, operator
    await administrator.make_password()
    await administrator.make_instance(auth=AUTH)
    await administrator.make_engine(replicas=0)
    await administrator.until_engine(lambda engine: engine.get("status", {}).get("phase") == "stopped")
    await administrator.change_password("another")
    await administrator.patch(FIREBOLT_ENGINES, "eng", {"spec": {"replicas": 1}})
    engine = await administrator.until_engine(
        lambda found: (found["status"]["phase"], found["status"].get("readyReplicas")) == ("stable", 1)
    )
    statefulset = await administrator.statefulset(engine["status"]["activeGeneration"])
    assert statefulset["metadata"]["annotations"]["firebolt.io/signing-keys"].startswith("signing-1=")
