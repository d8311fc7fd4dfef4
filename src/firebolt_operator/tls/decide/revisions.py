"""Which contents of Secrets do the gateway's pods have to be started for, and which must they never be given?"""

from collections.abc import Iterator
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.model import LocalRef
from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.manifests.hashes import short_hash
from firebolt_operator.manifests.issued import IssuedSecret
from firebolt_operator.manifests.revocations import has_list
from firebolt_operator.tls import served
from firebolt_operator.tls.facts import SecretRevisions, TLSSituation, TrustBundle

CLIENTS: Final = "gateway client CRL secret"


def secret_revisions(situation: TLSSituation, bundle: TrustBundle | None) -> SecretRevisions:
    """By content, not by version: whoever only labels a Secret rolls nobody."""
    known = dict[str, str]()
    for name, revision in _contents(situation):
        # One Secret may serve more than one purpose.
        known[name] = ".".join(filter(None, (known.get(name), short_hash(revision))))
    if bundle is not None:
        known[names.engine_ca_bundle_name(situation.instance.metadata.name)] = f"r{bundle.revision}"
    return SecretRevisions(known=known, before=situation.gateway.revisions)


def _contents(situation: TLSSituation) -> Iterator[tuple[str, str]]:
    instance, recorded = situation.instance, situation.instance.status.gateway_tls
    listener, issued = served.gateway_listener(instance), names.gateway_tls_name(instance.metadata.name)
    # The one that is served now, and the one that may be served next.
    following = listener.secret_ref.name if listener and listener.secret_ref else issued
    for name in sorted(filter(None, {recorded.secret_name if recorded else "", following})):
        yield name, _certificate(situation.of(name).secret)
    clients = listener.client_ca_secret_ref if listener else None
    if clients is not None:
        yield clients.name, _authority(situation.of(clients.name).secret)
    for _, reference in _lists(situation):
        secret = situation.of(reference.name).secret
        yield reference.name, secret.revocations if secret else ""


def _certificate(secret: IssuedSecret | None) -> str:
    is_usable = secret is not None and secret.has(names.KEY_PRIVATE_KEY) and secret.public_key
    return secret.served if secret is not None and is_usable else ""


def _authority(secret: IssuedSecret | None) -> str:
    return blob_fingerprint(secret.authority) if secret is not None and secret.authority.strip() else ""


def revocation_problem(situation: TLSSituation) -> str:
    """Why a list that the gateway shall have cannot be given to it. It serves on with what it has."""
    place = situation.instance.metadata.namespace
    for whose, reference in _lists(situation):
        secret = situation.of(reference.name).secret
        problem = _list_problem(secret) or _unlisted(situation, secret, whose)
        if problem:
            return f"{whose} {place}/{reference.name} {problem}"
    return ""


def _unlisted(situation: TLSSituation, secret: IssuedSecret | None, whose: str) -> str:
    """With such a list everybody would be refused: all clients, or engines that are in use."""
    if whose == CLIENTS:
        clients = served.client_authority(situation.instance)
        trusted = situation.of(clients.name).secret if clients else None
        listed = has_list(secret.revoking, trusted.authority) if secret and trusted else []
        return "has no list of any client CA" if listed and not any(listed) else ""
    known, published = situation.gateway.bundle.authorities, situation.instance.status.rolled_engine_trust_cas
    in_use = [known[each].text for each in (published or sorted(known)) if each in known]
    return "" if all(_is_listed(secret, text) for text in in_use) else "lacks the list of a CA that engines use"


def without_unlisted(situation: TLSSituation, published: frozenset[str], bundle: TrustBundle) -> frozenset[str]:
    """An engine must not switch to a CA that has no list yet: the gateway would refuse to speak to it."""
    reference = served.engine_revocations(situation.instance)
    if reference is None:
        return published
    secret = situation.of(reference.name).secret
    return frozenset(each for each in published if _is_listed(secret, bundle.authorities[each].text))


def _is_listed(secret: IssuedSecret | None, authority: str) -> bool:
    return secret is not None and all(has_list(secret.revoking, authority))


def _lists(situation: TLSSituation) -> Iterator[tuple[str, LocalRef]]:
    found = (
        (CLIENTS, served.client_revocations(situation.instance)),
        ("gateway engine CRL secret", served.engine_revocations(situation.instance)),
    )
    return ((whose, reference) for whose, reference in found if reference is not None)


def _list_problem(secret: IssuedSecret | None) -> str:
    if secret is None:
        return "not found"
    if not secret.has(names.KEY_REVOCATIONS):
        return f'is missing or empty for key "{names.KEY_REVOCATIONS}"'
    if not secret.revocations:
        return f'holds something else than revocation lists in PEM format in key "{names.KEY_REVOCATIONS}"'
    return ""
