"""Engines of an instance with TLS, from plaintext and back: certificates, CAs and trust, with the whole operator."""

import json

from firebolt_operator.api.resources import CERTIFICATES, CONFIG_MAPS, FIREBOLT_ENGINES, SECRETS, SERVICES
from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.refs import Manifest
from tests.api.auth.running import Operator
from tests.api.tls.people import ISSUED, Owner
from tests.support.cert_manager import CertManager

OF_ENGINE = "firebolt.io/engine=eng"


async def listeners(owner: Owner, generation: int) -> list[Manifest]:
    found = await owner.read(CONFIG_MAPS, f"eng-g{generation}-config")
    document: Manifest = json.loads(found["data"]["config.yaml"])
    configured: list[Manifest] = document.get("endpoints", {}).get("http", {}).get("listeners", [])
    return configured


async def selected(owner: Owner) -> str:
    return str((await owner.read(SERVICES, "eng-service"))["spec"]["selector"]["firebolt.io/generation"])


async def has_rolled(owner: Owner) -> bool:
    """Every pod of the gateway is of its present template, and none of another is left."""
    gateway = await owner.gateway()
    status, wanted = gateway["status"], gateway["spec"]["replicas"]
    is_seen = status["observedGeneration"] == gateway["metadata"]["generation"]
    return is_seen and {status[each] for each in ("replicas", "updatedReplicas", "availableReplicas")} == {wanted}


async def until_told(owner: Owner, text: str) -> Manifest:
    def is_told(engine: Manifest) -> bool:
        conditions = engine.get("status", {}).get("conditions", [])
        return any(each["type"] == "Ready" and text in each["message"] for each in conditions)

    return await owner.until_engine(is_told)


async def test_from_plaintext_to_tls_over_renewals_and_cas_and_back(
    owner: Owner, operator: Operator, cert_manager: CertManager
) -> None:
    await owner.make_instance()
    await owner.make_engine()
    await owner.until_serving(0)
    assert await listeners(owner, 0) == []

    await owner.ask_for(engine=ISSUED)
    await owner.until_serving(1)
    found = await owner.until_said("EngineTLSReady", "Ready")
    assert found.status.engine_tls is not None
    assert found.status.engine_tls.reencrypting
    assert (await owner.upstream() is not None, await has_rolled(owner)) == (True, True)  # not only decided
    assert [each["tls"]["private_key_file"] for each in await listeners(owner, 1)] == ["/secrets/tls/engine/tls.key"]
    assert await owner.names(CERTIFICATES, OF_ENGINE) == {"eng-g1-engine-tls"}
    await owner.until_instance(lambda each: each.status.rolled_engine_trust_cas == [blob_fingerprint("CA-1")])

    await cert_manager.renew("eng-g1-engine-tls")
    await owner.until_serving(2)

    # The next generation comes from another CA: it waits until the gateway trusts both, and the first one goes later.
    cert_manager.authority = "CA-2"
    await cert_manager.renew("eng-g2-engine-tls")
    await owner.until_serving(3)
    await owner.until_instance(lambda each: each.status.rolled_engine_trust_cas == [blob_fingerprint("CA-2")], operator)
    assert await owner.bundle() == "CA-2"

    await operator.settled()
    operator.requests.seen.clear()
    operator.nudge()
    await operator.settled()
    assert operator.requests.seen == {}  # what is stored is what we asked for

    await owner.ask_for(engine={"enabled": False})
    await owner.until_serving(4)
    await owner.until_said("EngineTLSReady", "Disabled")
    assert (await owner.upstream(), await has_rolled(owner)) == (None, True)
    assert await listeners(owner, 4) == []
    await owner.until(SECRETS, "eng-g3-engine-tls", lambda each: each is None)
    assert await owner.names(CERTIFICATES, OF_ENGINE) == set()


async def test_an_engine_without_a_certificate_waits_and_what_serves_goes_on(
    owner: Owner, operator: Operator, cert_manager: CertManager
) -> None:
    del operator
    await owner.make_instance(tls={"engine": ISSUED})
    await owner.make_engine()
    await owner.until_serving(0)
    cert_manager.is_waiting = True
    await owner.patch(FIREBOLT_ENGINES, "eng", {"spec": {"replicas": 2}})
    await until_told(owner, "waiting for cert-manager to issue the TLS certificate of generation 1")
    assert await selected(owner) == "0"
    cert_manager.is_waiting = False
    await owner.until_serving(1)
    assert await selected(owner) == "1"


async def test_a_certificate_that_somebody_deletes_is_asked_for_again(
    owner: Owner, operator: Operator, cert_manager: CertManager
) -> None:
    del cert_manager, operator
    await owner.make_instance(tls={"engine": ISSUED})
    await owner.make_engine()
    await owner.until_serving(0)
    before = (await owner.delete(CERTIFICATES, "eng-g0-engine-tls"))["metadata"]["uid"]
    await owner.until(
        CERTIFICATES, "eng-g0-engine-tls", lambda each: each is not None and each["metadata"]["uid"] != before
    )


async def test_with_its_engine_go_its_certificates_and_nobody_elses_secret(
    owner: Owner, operator: Operator, cert_manager: CertManager
) -> None:
    del cert_manager, operator
    await owner.make_instance(tls={"engine": ISSUED})
    await owner.make_engine()
    await owner.until_serving(0)
    labels = {"firebolt.io/engine": "eng", "firebolt.io/generation": "0"}
    await owner.make_secret("mine", {"password": "x"}, labels=labels)
    await owner.delete(FIREBOLT_ENGINES, "eng")
    await owner.until(FIREBOLT_ENGINES, "eng", lambda each: each is None)
    assert await owner.names(CERTIFICATES, OF_ENGINE) == set()
    assert await owner.names(SECRETS, OF_ENGINE) == {"mine"}


async def test_no_private_key_is_told_to_anybody(owner: Owner, operator: Operator, cert_manager: CertManager) -> None:
    await owner.make_instance(tls={"engine": ISSUED, "gateway": ISSUED})
    await owner.make_engine()
    await owner.until_serving(0)
    await cert_manager.renew("eng-g0-engine-tls")
    await owner.until_serving(1)
    config_maps = [json.dumps(await owner.read(CONFIG_MAPS, name)) for name in await owner.names(CONFIG_MAPS)]
    told = [await operator.scraped(), json.dumps(await owner.read(FIREBOLT_ENGINES, "eng")), *config_maps]
    told += [note for reason in ("GenerationStarted", "Switched", "Drained") for note in await owner.events(reason)]
    assert cert_manager.private_keys
    for key in cert_manager.private_keys:
        body = key.splitlines()[1]
        assert not [text for text in told if body in text]
