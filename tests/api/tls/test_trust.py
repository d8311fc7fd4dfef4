"""What the gateway trusts of engines: kept in a Secret, mounted before it is used, and told when every pod has it."""

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.resources import SECRETS
from firebolt_operator.manifests.fingerprints import blob_fingerprint
from tests.api.auth.running import Operator
from tests.api.tls.people import ISSUED, Owner, mounted
from tests.support.cert_manager import CertManager

BUNDLE = "inst-engine-ca-bundle"


async def test_before_there_is_an_engine_the_anchor_is_trusted(
    owner: Owner, operator: Operator, cert_manager: CertManager
) -> None:
    cert_manager.is_waiting = True
    await owner.make_instance(tls={"engine": ISSUED})
    found = await owner.until_said("EngineTLSReady", "CertificatePending")
    assert found.status.engine_tls is None
    cert_manager.is_waiting = False
    await owner.until_said("Ready", "AllComponentsReady")
    found = await owner.until_instance(lambda each: each.status.rolled_engine_trust_cas)
    assert found.status.engine_tls is not None
    assert found.status.engine_tls.reencrypting
    assert found.status.rolled_engine_trust_cas == [blob_fingerprint("CA-1")]
    assert await owner.bundle() == "CA-1"
    assert mounted(await owner.gateway()) == {"inst-engine-ca-bundle"}
    assert await owner.upstream() is not None
    assert (await owner.listeners())["listener"] is None

    # Another CA of the same issuer: nobody was ever seen with the first one.
    cert_manager.authority = "CA-2"
    await cert_manager.renew("inst-engine-tls")
    await owner.until_instance(lambda each: each.status.rolled_engine_trust_cas == [blob_fingerprint("CA-2")])
    assert await owner.bundle() == "CA-2"

    await owner.delete(SECRETS, "inst-engine-ca-bundle")
    await owner.until(SECRETS, "inst-engine-ca-bundle", lambda each: each is not None)
    assert await owner.bundle() == "CA-2"
    await operator.settled()
    operator.requests.seen.clear()
    operator.nudge()
    await operator.settled()
    assert operator.requests.seen == {}

    await owner.ask_for(engine={"enabled": False})
    found = await owner.until_said("EngineTLSReady", "Disabled")
    assert found.status.engine_tls is None
    await owner.until_gateway(lambda each: mounted(each) == set())
    # What the gateway mounts is trusted until it mounts it no more.
    await owner.until_instance(lambda each: each.status.rolled_engine_trust_cas == [])
    assert await owner.upstream() is None


async def test_the_cas_of_all_generations_that_serve_or_shall_are_trusted(
    owner: Owner, operator: Operator, cert_manager: CertManager
) -> None:
    old, new = blob_fingerprint("CA-1"), blob_fingerprint("CA-2")
    await owner.make_instance(tls={"engine": ISSUED})
    await owner.until_said("Ready", "AllComponentsReady")
    await owner.make_engine()
    await owner.until_serving(0)
    found = await owner.until_said("EngineTLSReady", "Ready")
    assert found.status.rolled_engine_trust_cas == [old]
    assert (await owner.generations())[old] == ["eng-g0-engine-tls"]

    # Renewed in place, under another CA: the pods serve the old one until they are replaced.
    cert_manager.authority = "CA-2"
    await cert_manager.renew("eng-g0-engine-tls")
    await owner.until(SECRETS, "inst-engine-ca-bundle", lambda each: each is not None and new in str(each["metadata"]))
    assert set(await owner.generations()) == {old, new}
    await owner.until_serving(1)
    found = await owner.until_instance(lambda each: each.status.rolled_engine_trust_cas == [new])
    await owner.until(
        SECRETS, "inst-engine-ca-bundle", lambda each: each is not None and old not in str(each["metadata"])
    )
    assert await owner.generations() == {new: ["eng-g1-engine-tls"]}
    assert await owner.bundle() == "CA-2"
    assert find_condition(found.status.conditions, "EngineTLSReady") is not None

    # A Secret that is lost takes no trust away.
    cert_manager.is_waiting = True
    await owner.delete(SECRETS, "eng-g1-engine-tls")
    await operator.next_pass()
    assert await owner.generations() == {new: ["eng-g1-engine-tls"]}
    cert_manager.is_waiting = False


async def test_tls_of_engines_turned_on_and_off_again(
    owner: Owner, operator: Operator, cert_manager: CertManager
) -> None:
    del operator, cert_manager
    await owner.make_instance()
    await owner.make_engine()
    await owner.until_serving(0)
    await owner.ask_for(engine=ISSUED)
    await owner.until_serving(1)
    await owner.until_said("EngineTLSReady", "Ready")
    await owner.until_gateway(lambda each: mounted(each) == {BUNDLE})  # a pass after it was recorded
    assert await owner.upstream() is not None
    await owner.ask_for(engine=None)
    await owner.until_serving(2)
    found = await owner.until_said("EngineTLSReady", "Disabled")
    assert found.status.engine_tls is None
    await owner.until_gateway(lambda each: mounted(each) == set())
    assert await owner.upstream() is None
