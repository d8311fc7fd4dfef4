"""Keeps the webhook certificates of the operator: made, renewed and trusted in time. The leader's work alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from firebolt_operator.admission import pki
from firebolt_operator.admission.configurations import MUTATING, VALIDATING, bundles_of, is_kept, trusts, with_bundle
from firebolt_operator.admission.decide.renewal import (
    AddAuthority,
    Anew,
    Forget,
    Issue,
    Renewal,
    Rest,
    Terms,
    decide_renewal,
    trusted_meanwhile,
)
from firebolt_operator.admission.pki import Material, Pair
from firebolt_operator.admission.secret import CA_BUNDLE, CA_KEY, CERTIFICATE, KEY, decoded_data, secret_manifest
from firebolt_operator.api.names import NewsReason
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.look_again import After, AtOnce
from firebolt_operator.observability.events import EventSender
from firebolt_operator.refs import Manifest, News, Ref
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.objects import Key

LONGEST_REST: Final = timedelta(hours=1)


@dataclass(slots=True, kw_only=True)
class CertificateKeeper:
    reader: Reader
    writer: Writer
    clock: Clock
    secret: Ref
    configuration: str  # both webhook configurations have this name
    names: frozenset[str]  # that the server is asked by
    terms: Terms
    events: EventSender | None = None  # None: nobody is told of renewals
    _published: tuple[bytes, datetime] | None = field(default=None, init=False)  # what is trusted, and since when

    async def reconcile(self, _: Key) -> Outcome:
        """Everything is read live: this runs when something changed, and once an hour."""
        material = _material(decoded_data(await self.reader.get(self.secret)))
        configurations = await self._configurations()
        held = pki.inspect_material(material)
        now = self.clock.now()
        published_at = self._published_at(configurations, material.bundle, now)
        renewal = decide_renewal(held, self.names, published_at=published_at, now=now, terms=self.terms)
        if isinstance(renewal, Rest):
            await self._publish(configurations, material.bundle)
            return Outcome("certificates are at rest", After(_within(renewal.until - now)))
        await self._renew(renewal, material, configurations, now)
        return Outcome(_note_on(renewal), AtOnce())

    def _published_at(self, configurations: Sequence[Manifest], bundle: bytes, now: datetime) -> datetime | None:
        """As this process has seen it: a new leader waits again, because nobody wrote down when the former saw it."""
        if not all(trusts(each, bundle) for each in configurations):
            self._published = None
            return None
        if self._published is None or self._published[0] != bundle:
            self._published = (bundle, now)
        return self._published[1]

    async def _renew(
        self, renewal: Renewal, material: Material, configurations: Sequence[Manifest], now: datetime
    ) -> None:
        renewed = self._renewed(renewal, material, configurations, now)
        if isinstance(renewal, Anew):
            # First whom to trust, then what is shown: replicas show the new certificate the moment it is stored.
            await self._publish(configurations, renewed.bundle)
        data = {
            CA_BUNDLE: renewed.bundle,
            CA_KEY: renewed.authority_key,
            CERTIFICATE: renewed.serving.certificate,
            KEY: renewed.serving.key,
        }
        stored = await self.writer.apply(secret_manifest(self.secret, data))
        if self.events is not None:
            news = News(reason=NewsReason.CERTIFICATE_RENEWED, action="Renewing", note=_note_on(renewal))
            await self.events.tell(self.secret, str(stored.get("metadata", {}).get("uid", "")), news, now=now)

    def _renewed(
        self, renewal: Renewal, material: Material, configurations: Sequence[Manifest], now: datetime
    ) -> Material:
        match renewal:
            case Anew():
                authority = pki.new_authority(now, self.terms.authority_life)
                former = (*material.authorities, *_published(configurations))
                serving = pki.new_serving(authority, self.names, now, self.terms.life)
                return _headed_by(authority, _still_trusted(former, now), serving)
            case AddAuthority():
                authority = pki.new_authority(now, self.terms.authority_life)
                return _headed_by(authority, _still_trusted(material.authorities, now), material.serving)
            case Issue():
                newest = Pair(certificate=material.authorities[-1], key=material.authority_key)
                return replace(material, serving=pki.new_serving(newest, self.names, now, self.terms.life))
            case Forget():
                return replace(material, authorities=material.authorities[-1:])
            case Rest():
                return material

    async def _publish(self, configurations: Sequence[Manifest], bundle: bytes) -> None:
        for configuration in configurations:
            if not trusts(configuration, bundle):
                await self.writer.apply(with_bundle(configuration, bundle))

    async def _configurations(self) -> list[Manifest]:
        """Those that are installed and ours to keep; without one nobody asks us through it."""
        found = [await self.reader.get(Ref(resource, "", self.configuration)) for resource in (VALIDATING, MUTATING)]
        return [each for each in found if each is not None and is_kept(each)]


def _material(data: dict[str, bytes]) -> Material:
    return Material(
        authorities=pki.split_bundle(data.get(CA_BUNDLE, b"")),
        authority_key=data.get(CA_KEY, b""),
        serving=Pair(certificate=data.get(CERTIFICATE, b""), key=data.get(KEY, b"")),
    )


def _headed_by(authority: Pair, former: tuple[bytes, ...], serving: Pair) -> Material:
    authorities = (*former, authority.certificate)
    return Material(authorities=authorities, authority_key=authority.key, serving=serving)


def _published(configurations: Sequence[Manifest]) -> list[bytes]:
    """If the Secret is lost, replicas go on showing what they have: its authority stays trusted for a while."""
    return [pem for each in configurations for bundle in bundles_of(each) for pem in pki.split_bundle(bundle)]


def _still_trusted(former: Sequence[bytes], now: datetime) -> tuple[bytes, ...]:
    known = {pki.authority_of(pem): pem for pem in former}
    return tuple(known[authority] for authority in trusted_meanwhile(list(known), now))


def _within(wait: timedelta) -> timedelta:
    return min(max(wait, timedelta(seconds=1)), LONGEST_REST)


def _note_on(renewal: Renewal) -> str:
    match renewal:
        case Anew(reason):
            return f"new authority and certificate: {reason}"
        case AddAuthority():
            return "new authority: the old one is due"
        case Issue(reason):
            return f"new certificate: {reason}"
        case Forget():
            return "old authorities are no longer trusted"
        case Rest():
            return "certificates are at rest"
