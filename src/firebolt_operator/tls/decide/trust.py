"""Which CAs must the gateway trust? Those of all generations that live, as they are now and as they ever were.

A generation's Secret is renewed in place, perhaps under another CA, while its pods serve what they read when they
started. So a CA leaves only when every generation that showed it is gone, and after engines were told that it does.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.tls.facts import TrustBundle, TrustedAuthority, TrustSituation


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustPlan:
    bundle: TrustBundle  # what the Secret carries after this pass
    may_publish: frozenset[str]  # what engines may be told, once the gateway serves it


def decide_trust(situation: TrustSituation) -> TrustPlan:
    """Additions at once. What shall go is first withdrawn from what engines are told, and gone a pass later."""
    wanted, before = _wanted(situation), situation.bundle
    kept = _revised(before, {**before.authorities, **wanted})
    leaving = before.authorities.keys() - wanted.keys()
    if leaving & situation.published:
        # An engine may be about to switch because it was told of this CA.
        return TrustPlan(bundle=kept, may_publish=frozenset(wanted))
    return TrustPlan(bundle=_revised(before, wanted), may_publish=frozenset(wanted))


def _revised(before: TrustBundle, authorities: Mapping[str, TrustedAuthority]) -> TrustBundle:
    is_same = before.authorities.keys() == authorities.keys()
    return TrustBundle(authorities, before.revision if is_same else before.revision + 1)


def _wanted(situation: TrustSituation) -> dict[str, TrustedAuthority]:
    live = frozenset(situation.seen)
    found = {
        fingerprint: TrustedAuthority(known.text, known.generations & live)
        for fingerprint, known in situation.bundle.authorities.items()
        if known.generations & live
    }
    for name, text in sorted(situation.seen.items()):
        if text.strip():
            fingerprint = blob_fingerprint(text)
            before = found.get(fingerprint, TrustedAuthority(text.strip(), frozenset()))
            found[fingerprint] = TrustedAuthority(before.text, before.generations | {name})
    return found or _anchor(situation)


def _anchor(situation: TrustSituation) -> dict[str, TrustedAuthority]:
    """Before there is any engine; with engines it is left out, so that a CA that was replaced does not linger."""
    if situation.seen and situation.bundle.authorities:
        # Generations live and none can be read: what is trusted stays trusted.
        return dict(situation.bundle.authorities)
    text = situation.anchor.strip()
    return {blob_fingerprint(text): TrustedAuthority(text, frozenset())} if text else {}


def published_authorities(before: frozenset[str], plan: TrustPlan, *, is_served: bool) -> frozenset[str]:
    """What engines are told that the gateway trusts: never more than all of its pods do, now and next."""
    return plan.may_publish if is_served else before & plan.may_publish


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGeneration:
    """One that shall take queries, by the name of its Secret, and the CA in that."""

    name: str
    authority: str


def may_take_queries(new: NewGeneration, bundle: TrustBundle, published: frozenset[str]) -> bool:
    """Asked while the gateway speaks TLS to engines: otherwise, whom it trusts does not matter.

    Every pod of the gateway trusts its CA, and the bundle knows that this generation is the reason: its Secret may be
    renewed under another CA, or be lost, as soon as it serves.
    """
    fingerprint = blob_fingerprint(new.authority)
    known = bundle.authorities.get(fingerprint)
    return known is not None and new.name in known.generations and fingerprint in published
