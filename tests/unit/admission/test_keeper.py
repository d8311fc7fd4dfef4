"""The keeper through months: whatever is shown at any instant is trusted, whenever the keeper dies or is away."""

import asyncio
import base64
import copy
import json
import random
import ssl
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from cryptography import x509

from firebolt_operator.admission import pki
from firebolt_operator.admission.configurations import MUTATING, VALIDATING, bundles_of, trusts
from firebolt_operator.admission.decide.renewal import Terms
from firebolt_operator.admission.keeper import LONGEST_REST, CertificateKeeper
from firebolt_operator.admission.secret import CA_BUNDLE, CERTIFICATE, KEY, ServedPair, decode_served_pair, decoded_data
from firebolt_operator.admission.served_certificate import ServedCertificate
from firebolt_operator.api.names import ANNOTATION_TRUST, TRUST_BY_OPERATOR
from firebolt_operator.api.resources import SECRETS
from firebolt_operator.errors import TransientError
from firebolt_operator.look_again import After, AtOnce
from firebolt_operator.observability.events import EventSender
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.coverage import Coverage
from tests.support.manual_clock import ManualClock
from tests.unit.runtime.builders import an_event

SECRET = Ref(SECRETS, "ops", "webhook")
NAMES = frozenset({"webhook.ops.svc"})
LIFE = timedelta(days=90)


def a_configuration(kind: str) -> Manifest:
    webhooks = [{"name": f"{name}.example.com", "clientConfig": {"url": "https://x"}} for name in ("a", "b")]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "ours", "annotations": {ANNOTATION_TRUST: TRUST_BY_OPERATOR}},
        "webhooks": webhooks,
    }


@dataclass
class MemoryServer:
    """A Secret and two configurations; an apply changes what it names. May die before or after any write."""

    secret: Manifest | None = None
    configurations: dict[str, Manifest] = field(
        default_factory=lambda: {each.kind: a_configuration(each.kind) for each in (VALIDATING, MUTATING)}
    )
    writes: list[str] = field(default_factory=list[str])
    dies: random.Random | None = None
    told: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    async def create(self, manifest: Manifest, /) -> Manifest:
        assert (manifest["kind"], manifest["type"], manifest["regarding"]["name"]) == ("Event", "Normal", SECRET.name)
        self.told.append((manifest["reason"], manifest["note"]))
        return manifest

    async def get(self, ref: Ref, /) -> Manifest | None:
        found = self.secret if ref == SECRET else self.configurations.get(ref.resource.kind)
        return copy.deepcopy(found)

    async def apply(self, manifest: Manifest, /) -> Manifest:
        if self.dies and self.dies.random() < 0.3:
            raise TransientError("died before")
        self.writes.append(manifest["kind"])
        if manifest["kind"] == "Secret":
            self.secret = copy.deepcopy(manifest)
        else:
            for live, applied in zip(
                self.configurations[manifest["kind"]]["webhooks"], manifest["webhooks"], strict=True
            ):
                assert live["name"] == applied["name"]
                live["clientConfig"] |= applied["clientConfig"]
        if self.dies and self.dies.random() < 0.3:
            raise TransientError("died after")
        return manifest


@dataclass
class World:
    server: MemoryServer = field(default_factory=MemoryServer)
    clock: ManualClock = field(default_factory=ManualClock)
    terms: Terms = field(default_factory=lambda: Terms(life=LIFE))
    keeper: CertificateKeeper = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        server: Any = self.server
        self.keeper = CertificateKeeper(
            reader=server,
            writer=server,
            clock=self.clock,
            secret=SECRET,
            configuration="ours",
            names=NAMES,
            terms=self.terms,
            events=EventSender(server, controller="webhook-certificates", instance="test"),
        )

    async def settle(self) -> timedelta:
        """Passes until it rests; for how long."""
        while True:
            match (await self.keeper.reconcile(("ops", "webhook"))).look_again:
                case AtOnce():
                    continue
                case After(wait):
                    return wait
                case other:
                    raise AssertionError(other)

    @property
    def data(self) -> dict[str, bytes]:
        return decoded_data(self.server.secret)

    @property
    def bundle(self) -> bytes:
        [bundle] = {each for configuration in self.server.configurations.values() for each in bundles_of(configuration)}
        return bundle


def is_trusted(certificate: bytes, bundle: bytes, now: datetime) -> bool:
    shown = x509.load_pem_x509_certificate(certificate)
    authorities = [x509.load_pem_x509_certificate(pem) for pem in pki.split_bundle(bundle)]
    return shown.not_valid_before_utc <= now < shown.not_valid_after_utc and any(
        pki._has_signed(each, shown) and now < each.not_valid_after_utc for each in authorities
    )


@pytest.fixture
def world() -> World:
    return World()


async def test_from_nothing_to_trust_in_one_go_and_then_no_write(world: World) -> None:
    await world.settle()
    assert is_trusted(world.data[CERTIFICATE], world.bundle, world.clock.now())
    assert world.server.writes == ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "Secret"]
    await world.settle()
    assert len(world.server.writes) == 3


async def test_people_read_that_the_certificate_was_renewed_and_nothing_while_it_rests(world: World) -> None:
    await world.settle()
    assert world.server.told == [
        ("CertificateRenewed", "new authority and certificate: there is no authority with its key")
    ]
    await world.settle()
    assert len(world.server.told) == 1
    await world.clock.advance(timedelta(days=61).total_seconds())
    await world.settle()
    assert world.server.told[1:] == [("CertificateRenewed", "new certificate: the certificate is due")]


async def test_a_bundle_broken_by_hand_is_mended(world: World) -> None:
    await world.settle()
    world.server.configurations["ValidatingWebhookConfiguration"]["webhooks"][1]["clientConfig"]["caBundle"] = "x"
    await world.settle()
    assert trusts(world.server.configurations["ValidatingWebhookConfiguration"], world.data[CA_BUNDLE])
    assert world.server.writes[3:] == ["ValidatingWebhookConfiguration"]


async def test_when_the_secret_is_lost_then_what_replicas_still_show_stays_trusted(world: World) -> None:
    await world.settle()
    shown = world.data[CERTIFICATE]
    world.server.secret = None
    await world.settle()
    assert world.data[CERTIFICATE] != shown
    assert is_trusted(shown, world.bundle, world.clock.now())
    assert is_trusted(world.data[CERTIFICATE], world.bundle, world.clock.now())
    await world.clock.advance(world.terms.retire.total_seconds() + 1)
    await world.settle()
    assert not is_trusted(shown, world.bundle, world.clock.now())


async def test_after_years_away_all_is_made_anew(world: World) -> None:
    await world.settle()
    await world.clock.advance(timedelta(days=2000).total_seconds())
    await world.settle()
    assert is_trusted(world.data[CERTIFICATE], world.bundle, world.clock.now())
    assert len(pki.split_bundle(world.bundle)) == 1


@pytest.mark.parametrize("key", [CA_BUNDLE, "ca.key", CERTIFICATE, KEY])
@pytest.mark.parametrize("value", ["", "bm9uc2Vuc2U=", "no base64"])
async def test_a_damaged_secret_is_mended(world: World, key: str, value: str) -> None:
    await world.settle()
    assert world.server.secret is not None
    world.server.secret["data"][key] = value
    await world.settle()
    assert is_trusted(world.data[CERTIFICATE], world.bundle, world.clock.now())


async def test_without_configurations_there_is_a_certificate_all_the_same(world: World) -> None:
    world.server.configurations.clear()
    await world.settle()
    assert world.server.writes == ["Secret"]


LAG = timedelta(minutes=1)
"""How long it takes until the slowest API server knows of a bundle, and the slowest replica of a certificate."""


@dataclass
class History:
    """What was written when."""

    certificates: list[tuple[datetime, bytes]] = field(default_factory=list[tuple[datetime, bytes]])
    bundles: dict[str, list[tuple[datetime, bytes]]] = field(default_factory=dict[str, list[tuple[datetime, bytes]]])

    def note(self, world: World) -> None:
        now = world.clock.now()
        self.certificates.append((now, world.data[CERTIFICATE]))
        for kind, configuration in world.server.configurations.items():
            self.bundles.setdefault(kind, []).append((now, bundles_of(configuration)[0]))

    def check(self, now: datetime) -> None:
        for certificate in in_use(self.certificates, now):
            for bundles in self.bundles.values():
                for bundle in in_use(bundles, now):
                    assert is_trusted(certificate, bundle, now)


def in_use(written: list[tuple[datetime, bytes]], now: datetime) -> set[bytes]:
    """The newest, and all that somebody slow may still have."""
    before = [content for at, content in written if at <= now - LAG][-1:]
    return {*before, *(content for at, content in written if at > now - LAG)}


@pytest.mark.parametrize("seed", range(5))
async def test_through_two_years_with_deaths_what_is_shown_is_always_trusted(seed: int) -> None:
    rng = random.Random(seed)
    world, history = World(), History()
    await world.settle()
    world.server.dies = rng
    authorities = set[bytes]()
    while world.clock.now() < ManualClock().now() + timedelta(days=730):
        try:
            wait = await world.settle()
        except TransientError:
            world.restart()
            wait = timedelta(seconds=rng.uniform(1, 5))
        history.note(world)
        history.check(world.clock.now())
        authorities.update(pki.split_bundle(world.data[CA_BUNDLE]))
        away = timedelta(days=rng.choice((0, 0, 0, 5)))
        # An hour at rest is no different from a day of it.
        rest = timedelta(days=1) if wait == LONGEST_REST else wait
        await world.clock.advance((rest + away).total_seconds())
    assert len(authorities) >= 3


@pytest.mark.parametrize("left", [5, 25, 60, 600, 1100], ids=lambda left: f"{left}-seconds")
async def test_given_an_authority_of_other_terms_then_what_is_shown_does_not_outlive_it(left: int) -> None:
    """An operator that was told other lives goes on with the authority that it finds."""
    world = World(terms=Terms(life=timedelta(minutes=5)))
    await world.settle()
    await world.clock.advance((world.terms.authority_life - timedelta(seconds=left)).total_seconds())
    world.terms = Terms(life=LIFE)
    world.restart()
    for _ in range(100):
        wait = await world.settle()
        # A moment before the next look at the latest all is well, and so it is after that look.
        await world.clock.advance(wait.total_seconds() * 0.999)
        assert is_trusted(world.data[CERTIFICATE], world.bundle, world.clock.now())
        await world.clock.advance(wait.total_seconds() * 0.001)


async def test_a_configuration_that_trusts_somebody_else_is_left_alone(world: World) -> None:
    await world.settle()
    theirs = pki.new_authority(world.clock.now(), LIFE).certificate
    for configuration in world.server.configurations.values():
        # One write, as an upgrade to a certificate from elsewhere makes it, while we still lead.
        del configuration["metadata"]["annotations"]
        for webhook in configuration["webhooks"]:
            webhook["clientConfig"]["caBundle"] = base64.b64encode(theirs).decode()
    await world.settle()
    assert all(trusts(each, theirs) for each in world.server.configurations.values())


class Recorder:
    def certificate_read(self, expires_at: datetime | None, /) -> None: ...
    def certificate_failed(self) -> None: ...


async def test_a_replica_shows_the_new_certificate_without_a_restart(world: World) -> None:
    cache: Cache[ServedPair] = Cache(SECRETS, decode_served_pair, coverage=Coverage(("ops",), name="webhook"))
    certificate = ServedCertificate(cache, Recorder())
    assert not certificate.is_ready(leads=True)
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0, ssl=certificate.context)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await handshake(port, b"")
        for version in (11, 12):
            world.server.secret = None
            world.keeper.terms = Terms(life=timedelta(days=36_500))  # real sockets read the real clock
            await world.settle()
            body = secret_body(world.server.secret, version)
            cache.watched("ops", an_event("ADDED", body))
            assert certificate.is_ready(leads=True)
            await handshake(port, world.data[CA_BUNDLE])


def test_only_the_leader_waits_for_a_certificate_that_nobody_has() -> None:
    cache: Cache[ServedPair] = Cache(SECRETS, decode_served_pair, coverage=Coverage(("ops",), name="webhook"))
    certificate = ServedCertificate(cache, Recorder())
    assert not certificate.is_ready(leads=False)  # nobody knows yet whether there is one
    cache.end_list(cache.begin_list("ops", 10))
    # An earlier release may lead: it makes no certificate, and stays until its successor is ready.
    assert certificate.is_ready(leads=False)
    assert not certificate.is_ready(leads=True)
    empty = {"metadata": {"namespace": "ops", "name": "webhook"}, "data": {}}
    cache.watched("ops", an_event("ADDED", secret_body(empty, 11)))
    assert not certificate.is_ready(leads=False)  # whoever wrote it is at work


def secret_body(secret: Manifest | None, version: int) -> bytes:
    assert secret is not None
    metadata = {**secret["metadata"], "uid": "u", "resourceVersion": str(version)}
    return json.dumps({**secret, "metadata": metadata}).encode()


async def handshake(port: int, bundle: bytes) -> None:
    context = ssl.create_default_context(cadata=bundle.decode() or None)
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="webhook.ops.svc")
    writer.close()
    await writer.wait_closed()
