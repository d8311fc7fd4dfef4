"""Engines with TLS: what they are made with, what they wait for, what rolls them, and when they take queries."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import msgspec
import pytest

from firebolt_operator.api.resources import (
    CERTIFICATES,
    CONFIG_MAPS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    SECRETS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.api.serialise import parse_instance
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.look_again import After
from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.tls.facts import TrustBundle, TrustedAuthority
from firebolt_operator.tls.render.trust_bundle import trust_bundle
from tests.support.one_engine import INSTANCE, MOST_PASSES, NAMESPACE, OneEngine, an_object

ASKED: Manifest = {"issuerRef": {"name": "ca"}}
ENABLED: Manifest = {"enabled": True, "certManager": ASKED}
ANCHOR = "main-engine-tls"
ISSUING = "waiting for cert-manager to issue the TLS certificate of generation 0"
TRUSTING = "waiting for the gateway to trust the CA of generation {}"
LIVE = "get FireboltInstance main"
FULL = {"tls.key": "key", "tls.crt": "certificate 1", "ca.crt": "CA-1"}


def an_instance(listener: Manifest | None = None, *, is_provisioned: bool = True, **status: object) -> Manifest:
    """Its gateway speaks plaintext to engines, unless `reencrypting` is among the status."""
    is_on = bool(status.pop("reencrypting", False))
    engine_tls = {"secretName": ANCHOR, "createdAt": "2026-01-01T00:00:00Z", "reencrypting": is_on}
    provisioned = {"engineTLS": engine_tls} if is_provisioned else {}
    return {
        "spec": {**INSTANCE["spec"], "tls": {"engine": listener or ENABLED}},
        "status": {**INSTANCE["status"], **provisioned, **status},
    }


def trusting(*authorities: str) -> Manifest:
    """Its gateway speaks TLS to engines, and all of its pods trust these."""
    return an_instance(reencrypting=True, rolledEngineTrustCAs=[blob_fingerprint(each) for each in authorities])


def _known_everywhere(_namespace: str) -> str:
    return ""


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@dataclass
class Encrypted:
    one: OneEngine = field(default_factory=lambda: OneEngine(instance=an_instance()))
    reconciler: EngineReconciler = field(init=False)
    issued: int = 0

    def __post_init__(self) -> None:
        self.reconciler = EngineReconciler(self.one.dependencies())
        self.has_cert_manager(is_there=True)
        self.put_secret(ANCHOR, FULL, ANCHOR)

    def has_cert_manager(self, *, is_there: bool) -> None:
        kind = self.one.listeners.certificates
        kind._is_served, kind._why_unknown = is_there, _known_everywhere

    def put_secret(self, name: str, texts: dict[str, str], issued_for: str, labels: Manifest | None = None) -> None:
        secret = an_object(SECRETS, name, {"data": {key: encoded(text) for key, text in texts.items()}})
        secret["metadata"] |= {
            "annotations": {"cert-manager.io/certificate-name": issued_for},
            "labels": labels or {},
        }
        self.one.api.put(secret)

    def forget(self, name: str) -> None:
        del self.one.api.objects[Ref(SECRETS, NAMESPACE, name)]

    def issue(self, generation: int, authority: str = "CA-1", **texts: str) -> None:
        """As cert-manager does: each time it is another certificate."""
        self.issued += 1
        name = f"sales-g{generation}-engine-tls"
        certificate = self.one.api.objects[Ref(CERTIFICATES, NAMESPACE, name)]
        data = {**FULL, "tls.crt": f"certificate {self.issued}", "ca.crt": authority} | texts
        self.put_secret(name, data, name, certificate["spec"]["secretTemplate"]["labels"])
        ready = {"type": "Ready", "status": "True", "observedGeneration": certificate["metadata"]["generation"]}
        self.one.api.put(certificate | {"status": {"conditions": [ready]}})

    def put_bundle(self, *generations: int, authority: str = "CA-1", is_ours: bool = True) -> None:
        """Which generations the CA is trusted for."""
        seen = frozenset(f"sales-g{number}-engine-tls" for number in generations)
        bundle = TrustBundle({blob_fingerprint(authority): TrustedAuthority(authority, seen)}, 1)
        instance = self.one.api.objects[Ref(FIREBOLT_INSTANCES, NAMESPACE, "main")]
        secret = trust_bundle(parse_instance(instance), bundle)
        if not is_ours:
            del secret["metadata"]["ownerReferences"]
        self.one.api.put(secret)

    def tell_instance(self, instance: Manifest) -> None:
        self.one.api.put(an_object(FIREBOLT_INSTANCES, "main", instance))

    async def run(self) -> Outcome:
        outcome = await self.reconciler.reconcile(self.one.key)
        await self.one.let_pods_answer()
        return outcome

    async def until(self, reason: str) -> None:
        for _ in range(MOST_PASSES):
            if (await self.run()).reason == reason:
                return
        raise AssertionError(f"never {reason}: {self.status}")

    async def at_rest(self, authority: str = "CA-1") -> None:
        """cert-manager issues whatever is asked for, and pods turn ready."""
        for _ in range(MOST_PASSES):
            outcome = await self.run()
            for ref, found in list(self.one.api.objects.items()):
                if ref.resource == CERTIFICATES and "status" not in found:
                    self.issue(int(found["metadata"]["labels"]["firebolt.io/generation"]), authority)
            self.one.make_pods()
            if outcome.reason == "at rest":
                return
        raise AssertionError(f"not at rest: {self.status}")

    @property
    def status(self) -> Manifest:
        status: Manifest = self.one.api.objects[Ref(FIREBOLT_ENGINES, NAMESPACE, "sales")]["status"]
        return status

    def said(self, kind: str) -> str:
        return next(str(each["message"]) for each in self.status["conditions"] if each["type"] == kind)

    def has(self, ref: Ref) -> bool:
        return ref in self.one.api.objects

    def statefulset(self, generation: int) -> Manifest:
        return self.one.api.objects[Ref(STATEFULSETS, NAMESPACE, f"sales-g{generation}")]

    def annotations(self, generation: int) -> Manifest:
        annotations: Manifest = self.statefulset(generation)["metadata"]["annotations"]
        return annotations

    def listeners(self, generation: int) -> list[Manifest]:
        text = self.one.api.objects[Ref(CONFIG_MAPS, NAMESPACE, f"sales-g{generation}-config")]["data"]["config.yaml"]
        config: Manifest = msgspec.json.decode(text)
        found: list[Manifest] = config.get("endpoints", {}).get("http", {}).get("listeners", [])
        return found

    @property
    def selected(self) -> str:
        service = self.one.api.objects[Ref(SERVICES, NAMESPACE, "sales-service")]
        return str(service["spec"]["selector"]["firebolt.io/generation"])


def certificate(generation: int) -> Ref:
    return Ref(CERTIFICATES, NAMESPACE, f"sales-g{generation}-engine-tls")


def secret(generation: int) -> Ref:
    return replace(certificate(generation), resource=SECRETS)


async def test_an_engine_is_made_with_the_certificate_of_its_generation() -> None:
    world = Encrypted()
    world.one.begin()
    await world.at_rest()
    (listener,) = world.listeners(0)
    assert (listener["port"], listener["tls"]["private_key_file"]) == (3473, "/secrets/tls/engine/tls.key")
    pod = world.statefulset(0)["spec"]["template"]["spec"]
    mounted = {volume["name"]: volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume}
    assert mounted == {"tls-engine": "sales-g0-engine-tls"}
    asked = world.one.api.objects[certificate(0)]
    assert asked["metadata"]["ownerReferences"][0]["uid"] == "uid-FireboltEngine-apps-sales"
    assert asked["spec"]["dnsNames"][0] == "*.sales-g0-hl.apps.svc.cluster.local"
    recorded = (world.status["observedEngineTLSHash"], world.status["observedEngineServingCertFP"])
    assert recorded == (world.annotations(0)["firebolt.io/engine-tls-hash"], blob_fingerprint("certificate 1"))


async def test_the_certificate_is_asked_for_first_and_pods_come_after_it() -> None:
    world = Encrypted()
    world.one.begin()
    await world.until(ISSUING)
    applied = [request for request in world.one.api.requests if request.startswith("apply")]
    assert applied[0] == "apply Certificate sales-g0-engine-tls"
    assert not world.has(Ref(STATEFULSETS, NAMESPACE, "sales-g0"))
    assert world.said("Ready") == f"Engine is in creating phase; {ISSUING}"
    world.issue(0)
    await world.until("waiting for pods, 0 of 2 ready")
    assert world.annotations(0)["firebolt.io/serving-certificate"] == blob_fingerprint("certificate 1")


async def test_without_cert_manager_nothing_is_asked_for_and_the_engine_says_so() -> None:
    world = Encrypted()
    world.has_cert_manager(is_there=False)
    world.one.begin()
    await world.until(f"{ISSUING}; the cluster does not serve Certificates: is cert-manager installed?")
    assert not world.has(certificate(0))
    world.has_cert_manager(is_there=True)
    await world.at_rest()


async def test_an_issuer_without_a_ca_is_told_apart() -> None:
    world = Encrypted()
    world.one.begin()
    await world.until(ISSUING)
    world.issue(0, authority="")
    await world.until(f"{ISSUING}; its Secret has no ca.crt, which only issuers of a CA fill")


async def test_a_certificate_that_is_being_issued_anew_is_waited_for() -> None:
    world = Encrypted()
    world.one.begin()
    await world.until(ISSUING)
    world.issue(0)
    found = world.one.api.objects[certificate(0)]
    world.one.api.put(found | {"metadata": found["metadata"] | {"generation": 2}})
    await world.until(ISSUING)
    assert not world.has(Ref(STATEFULSETS, NAMESPACE, "sales-g0"))


REFUSED: dict[str, tuple[Callable[[Encrypted], None], str]] = {
    "not provisioned": (
        lambda world: world.tell_instance(an_instance(is_provisioned=False)),
        'FireboltInstance "main" has engine TLS enabled but it is not provisioned yet',
    ),
    "no anchor": (
        lambda world: world.forget(ANCHOR),
        "engine TLS secret apps/main-engine-tls not found",
    ),
    "an anchor without a key": (
        lambda world: world.put_secret(ANCHOR, FULL | {"tls.key": ""}, ANCHOR),
        'engine TLS secret apps/main-engine-tls is missing or empty for key "tls.key"',
    ),
    "somebody's Secret": (
        lambda world: world.put_secret("sales-g0-engine-tls", FULL, "another"),
        "engine generation 0 TLS secret apps/sales-g0-engine-tls: secret was not issued by cert-manager for the ",
    ),
    "no source": (
        lambda world: world.tell_instance(an_instance({"enabled": True})),
        'FireboltInstance "main": spec.tls.engine.certManager: Required value',
    ),
    "a malformed duration": (
        lambda world: world.tell_instance(an_instance({"enabled": True, "certManager": ASKED | {"duration": "soon"}})),
        'FireboltInstance "main": spec.tls.engine.certManager.duration: Invalid value: "soon"',
    ),
}


@pytest.mark.parametrize(("spoil", "message"), REFUSED.values(), ids=REFUSED)
async def test_an_engine_that_cannot_speak_tls_is_not_made_to_speak_plaintext(
    spoil: Callable[[Encrypted], None], message: str
) -> None:
    world = Encrypted()
    world.one.begin()
    spoil(world)
    for _ in range(3):
        await world.run()
    assert world.said("InstanceReady").startswith(message)
    assert not [request for request in world.one.api.requests if request.startswith("apply")]


async def test_a_name_that_somebody_has_taken_is_left_to_them() -> None:
    world = Encrypted()
    world.one.begin()
    theirs = {"spec": {"secretName": "theirs"}, "status": {}}
    world.one.api.put(an_object(CERTIFICATES, "sales-g0-engine-tls", theirs))
    await world.at_rest()
    assert world.status["activeGeneration"] == 1
    assert world.one.api.objects[certificate(0)]["spec"] == {"secretName": "theirs"}


@pytest.mark.parametrize("is_asked_for", [False, True], ids=["before-anybody-asked", "before-it-was-asked-for"])
async def test_a_secret_that_was_there_first_is_not_mounted(*, is_asked_for: bool) -> None:
    """cert-manager may adopt it, and whoever made it knows the key."""
    world = Encrypted()
    world.one.begin()
    if is_asked_for:
        await world.until(ISSUING)
        world.issue(0)
        planted = world.one.api.objects[secret(0)]
        world.one.api.put(planted | {"metadata": planted["metadata"] | {"creationTimestamp": "2026-01-01T11:59:59Z"}})
    else:
        world.put_secret("sales-g0-engine-tls", FULL, "sales-g0-engine-tls")
    await world.at_rest()
    assert (world.status["activeGeneration"], world.has(Ref(STATEFULSETS, NAMESPACE, "sales-g0"))) == (1, False)


async def test_turning_tls_on_and_off_makes_another_generation_each_time() -> None:
    world = Encrypted()
    world.one.instance = INSTANCE
    world.one.begin()
    await world.at_rest()
    world.tell_instance(an_instance())
    await world.at_rest()
    assert (world.status["activeGeneration"], len(world.listeners(1))) == (1, 1)
    world.tell_instance(INSTANCE)
    await world.at_rest()
    assert (world.status["activeGeneration"], world.listeners(2)) == (2, [])
    assert "observedEngineServingCertFP" not in world.status
    assert not world.has(certificate(1))
    assert not world.has(secret(1))


async def test_a_certificate_that_is_issued_anew_rolls_the_engine_once() -> None:
    world = Encrypted()
    world.one.begin()
    await world.at_rest()
    world.issue(0)
    outcome = await world.run()
    assert outcome.reason == "new generation: the TLS certificate of generation 0 was issued anew"
    await world.at_rest()
    assert (await world.run()).reason == "at rest"
    assert world.status["activeGeneration"] == 1
    assert world.status["observedEngineServingCertGen"] == 1
    assert not world.has(certificate(0))
    assert not world.has(secret(0))


async def test_a_certificate_that_is_issued_anew_before_the_engine_is_at_rest_is_not_missed() -> None:
    """Its pods have read the one before."""
    world = Encrypted()
    world.one.begin()
    await world.until(ISSUING)
    world.issue(0)
    await world.until("waiting for pods, 0 of 2 ready")
    world.one.make_pods()
    await world.until("all pods are ready")
    world.issue(0)
    await world.at_rest()
    assert world.status["activeGeneration"] == 1


async def test_a_generation_whose_certificate_changed_while_its_pods_started_takes_no_queries() -> None:
    """They serve one that nobody has seen: the gateway may never have trusted it."""
    world = Encrypted()
    world.one.begin()
    await world.at_rest()
    world.one.edit(replicas=3)
    await world.until("waiting for cert-manager to issue the TLS certificate of generation 1")
    world.issue(1)
    await world.until("waiting for pods, 0 of 3 ready")
    world.one.make_pods()
    world.issue(1, authority="CA-2")
    outcome = await world.run()
    assert outcome.reason == "new generation: abandoned, the TLS certificate of generation 1 was issued anew"
    assert (world.status["activeGeneration"], world.selected) == (0, "0")


async def test_a_renewal_that_a_release_before_recorded_is_compared_with_that() -> None:
    """What an engine of the same kind left behind says it in the status alone."""
    world = Encrypted()
    world.one.begin()
    await world.at_rest()
    statefulset = world.statefulset(0)
    del statefulset["metadata"]["annotations"]["firebolt.io/serving-certificate"]
    world.one.api.put(statefulset)
    assert (await world.run()).reason == "at rest"
    world.issue(0)
    assert (await world.run()).reason == "new generation: the TLS certificate of generation 0 was issued anew"


async def test_a_certificate_that_was_deleted_is_asked_for_again() -> None:
    world = Encrypted()
    world.one.begin()
    await world.at_rest()
    await world.one.api.delete(certificate(0), uid="uid-Certificate-apps-sales-g0-engine-tls")
    await world.run()
    assert world.has(certificate(0))
    assert world.status["currentGeneration"] == 0


async def test_while_the_gateway_speaks_plaintext_nobody_is_waited_for() -> None:
    world = Encrypted()
    world.one.begin()
    await world.at_rest()
    assert "get Secret main-engine-ca-bundle" not in world.one.api.requests


@dataclass(frozen=True)
class Doubt:
    """Why a gateway would refuse to speak to generation 1."""

    instance: Manifest
    generations: tuple[int, ...] = (0, 1)
    has_bundle: bool = True
    is_ours: bool = True


UNTRUSTED = {
    "no bundle": Doubt(trusting("CA-1"), has_bundle=False),
    "pods of the gateway that have not loaded it": Doubt(trusting("CA-2")),
    "a bundle that somebody else wrote": Doubt(trusting("CA-1"), is_ours=False),
    "trusted for the sake of another generation": Doubt(trusting("CA-1"), generations=(0,)),
}


@pytest.mark.parametrize("doubt", UNTRUSTED.values(), ids=UNTRUSTED)
async def test_a_generation_that_the_gateway_does_not_trust_takes_no_queries(doubt: Doubt) -> None:
    world = Encrypted()
    world.one.begin()
    await world.at_rest()
    world.tell_instance(doubt.instance)
    if doubt.has_bundle:
        world.put_bundle(*doubt.generations, is_ours=doubt.is_ours)
    world.one.edit(replicas=3)
    await world.until("waiting for cert-manager to issue the TLS certificate of generation 1")
    world.issue(1)
    await world.until("waiting for pods, 0 of 3 ready")
    world.one.make_pods()
    outcome = await world.run()
    assert (outcome.reason, outcome.look_again) == (TRUSTING.format(1), After(timedelta(seconds=5)))
    assert (world.status["phase"], world.selected) == ("creating", "0")
    assert world.said("Ready") == f"Engine is in creating phase; {TRUSTING.format(1)}"
    world.tell_instance(trusting("CA-1"))
    world.put_bundle(0, 1)
    await world.at_rest()
    assert world.selected == "1"


async def test_what_the_gateway_trusts_is_read_live_before_the_switch() -> None:
    """The caches say that it speaks plaintext; the server knows better."""
    world = Encrypted()
    world.one.begin()
    await world.until(ISSUING)
    world.issue(0)
    await world.until("waiting for pods, 0 of 2 ready")
    world.one.make_pods()
    ref = Ref(FIREBOLT_INSTANCES, NAMESPACE, "main")
    known = world.one.api.objects[ref]
    version = str(int(known["metadata"]["resourceVersion"]) + 1000)
    world.one.api.objects[ref] = (
        known | trusting("CA-1") | {"metadata": known["metadata"] | {"resourceVersion": version}}
    )
    assert (await world.run()).reason == TRUSTING.format(0)


async def test_at_rest_nobody_is_asked_for_anything() -> None:
    world = Encrypted()
    world.one.begin()
    await world.at_rest()
    await world.run()
    world.one.api.requests.clear()
    await world.run()
    assert world.one.api.requests == []


async def test_without_tls_no_engine_ever_asks_for_more_than_before() -> None:
    world = Encrypted()
    world.one.instance = INSTANCE
    world.one.begin()
    await world.at_rest()
    asked = [each for each in world.one.api.requests if "Secret" in each or "Certificate" in each or each == LIVE]
    assert asked == []
