"""When does the operator's own certificate for its webhooks change, and whom do API servers trust meanwhile?

One rule holds at every instant: whoever serves shows a certificate of an authority that API servers already trust. So a
new authority is made known long before it signs anything, and an old one is forgotten long after it was last used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

BACKDATED: Final = timedelta(hours=1)
"""How long before its making a certificate is valid: clocks differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How long things last; all follow from how long a serving certificate does."""

    life: timedelta

    @property
    def authority_life(self) -> timedelta:
        return 4 * self.life

    @property
    def settle(self) -> timedelta:
        """From publishing an authority until it signs: every API server has heard of it by then."""
        return min(timedelta(minutes=5), self.life / 20)

    @property
    def retire(self) -> timedelta:
        """From the last use of an authority until it is forgotten: every replica shows the new certificate by then."""
        return min(timedelta(hours=1), self.life / 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    made_at: datetime
    until: datetime

    def is_over(self, now: datetime) -> bool:
        return now >= self.until

    @property
    def due_at(self) -> datetime:
        """With a third of its life to spare, however long nobody is there to renew it."""
        return self.made_at + (self.until - self.made_at) * 2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    fingerprint: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    issuer: str  # fingerprint of the authority; empty if it is none of those that are held
    names: frozenset[str]
    span: Span  # not beyond that of the authority


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the Secret holds, as far as it can be used."""

    authorities: tuple[Authority, ...] = ()  # the newest last
    has_key: bool = False  # of the newest authority
    serving: Serving | None = None


@dataclass(frozen=True, slots=True)
class Anew:
    """A new authority and a certificate of it at once: nothing that is there can sign."""

    reason: str


@dataclass(frozen=True, slots=True)
class AddAuthority:
    """Published now, and signing later."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A new serving certificate of the newest authority."""

    reason: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Only the newest authority is trusted from now on."""


@dataclass(frozen=True, slots=True)
class Rest:
    until: datetime  # when something is due, if nothing happens before


Renewal = Anew | AddAuthority | Issue | Forget | Rest


def decide_renewal(
    held: Held, names: frozenset[str], *, published_at: datetime | None, now: datetime, terms: Terms
) -> Renewal:
    """Since when every webhook configuration is known to trust all authorities that are held; None if not all do."""
    serving = _shown(held, now)
    if not isinstance(serving, Serving):
        return serving
    newest = held.authorities[-1]
    if newest.span.due_at <= now:
        return AddAuthority()
    signs_at = _signs_at(held, serving, published_at or now, terms)
    if now < signs_at or published_at is None:
        # What is shown now is trusted, and stays, but not beyond its end.
        return Rest(min(max(signs_at, now + terms.settle / 10), serving.span.until))
    if serving.issuer != newest.fingerprint:
        return Issue("a newer authority is trusted everywhere")
    return _decide_among_one_issuer(held, serving, names, now, terms)


def _shown(held: Held, now: datetime) -> Serving | Anew | Issue:
    """The certificate that can be shown, and renewed; or what has to be made for lack of it."""
    newest = held.authorities[-1] if held.authorities else None
    if newest is None or not held.has_key:
        return Anew("there is no authority with its key")
    if newest.span.is_over(now):
        return Anew("the authority has run out")
    serving = held.serving
    if serving is None or not serving.issuer or serving.span.is_over(now):
        return Issue("there is no certificate that can be shown")
    return serving


def _decide_among_one_issuer(
    held: Held, serving: Serving, names: frozenset[str], now: datetime, terms: Terms
) -> Renewal:
    if serving.names != names:
        return Issue("the server answers under other names")
    if serving.span.due_at <= now:
        return Issue("the certificate is due")
    forgets_at = serving.span.made_at + terms.retire
    has_older = len(held.authorities) > 1
    if has_older and forgets_at <= now:
        return Forget()
    due = [serving.span.due_at, held.authorities[-1].span.due_at]
    return Rest(min([*due, forgets_at] if has_older else due))


def _signs_at(held: Held, serving: Serving, published_at: datetime, terms: Terms) -> datetime:
    """An authority that stands alone has signed what is shown already; beside another it is new to API servers.

    Where what is shown ends before all have heard of the new one, most will have.
    """
    if len(held.authorities) == 1:
        return published_at
    return min(published_at + terms.settle, serving.span.until - terms.settle / 10)


def trusted_meanwhile(authorities: Sequence[Authority], now: datetime) -> tuple[Authority, ...]:
    """Of former authorities those that may still have signed what somebody shows; not more than a few."""
    return tuple(each for each in authorities if not each.span.is_over(now))[-2:]
