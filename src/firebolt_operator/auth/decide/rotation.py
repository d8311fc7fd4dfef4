"""What is the next step of a rotation of the signing key? One per pass, each of them safe to repeat.

A new key is first accepted everywhere, then signs; the old one is accepted until every token that it signed has
expired, then it is taken from engines, then it is deleted. Engines in the way are waited for, and nothing else waits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import msgspec

from firebolt_operator.api.auth import AuthStatus, LocalAuthSpec, SigningKeysSpec, SigningKeyStatus
from firebolt_operator.api.durations import parse_duration
from firebolt_operator.api.names import EventReason, RotationStep, SigningKeyPhase
from firebolt_operator.auth.decide.gates import Closed, Open, Unconfirmed, Unknown, gate
from firebolt_operator.auth.decide.material import ACTION, Rejected, Usable, judge_material
from firebolt_operator.auth.decide.signing_keys import active_key, is_removing, next_key, other_key, replaced, with_key
from firebolt_operator.auth.facts import AuthSituation
from firebolt_operator.auth.held_keys import HeldKey
from firebolt_operator.auth.plan import AuthWrite, DeleteCertificate, DeleteSecret, EnsureCertificate
from firebolt_operator.look_again import After, AtOnce, LookAgain
from firebolt_operator.manifests.issued import wrong_secret
from firebolt_operator.policy.rotation_checks import least_retention
from firebolt_operator.refs import Warn

SLACK: Final = timedelta(minutes=5)
"""On top of every retention: clocks of two leaders differ, and a pod that leaves may answer for a minute more."""
STALLED_AFTER: Final = timedelta(minutes=15)
POLL: Final = After(timedelta(seconds=30))
MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What becomes of the keys; `needs_live_fleet` as in a plan."""

    status: AuthStatus
    look_again: LookAgain
    writes: tuple[AuthWrite, ...] = ()
    warnings: tuple[Warn, ...] = ()
    needs_live_fleet: bool = False


Advance = Callable[[], Progress]


@dataclass(frozen=True, slots=True)
class Rotation:
    """`status` has an active key that engines can use, and says of every key what was witnessed in this pass."""

    situation: AuthSituation
    local: LocalAuthSpec
    asked: SigningKeysSpec
    status: AuthStatus

    def decide(self) -> Progress:
        keys = self.status.signing_keys
        active, other = active_key(keys), other_key(keys)
        if active is None:
            raise RuntimeError("asked only about an instance that has an active signing key")
        if other is None:
            return self._mint_when_due(active)
        if is_removing(other):
            return self._behind(RotationStep.REMOVAL, other, lambda: self._remove(other))
        if other.demoted_at is None:
            return self._promote_when_usable(active, other)
        if other.retire_eligible_at is None or other.retire_eligible_at > self._now + SLACK:
            # An instant that lies ahead was written by a clock that ran wild: counting begins again.
            return self._behind(RotationStep.RETIRE_ANCHOR, other, lambda: self._anchor(other))
        return self._retire_when_expired(other, other.retire_eligible_at)

    @property
    def _now(self) -> datetime:
        return self.situation.now

    def _mint_when_due(self, active: SigningKeyStatus) -> Progress:
        interval = _parsed(self.asked.rotation_interval)
        if interval is None:
            return self._resting(POLL)
        left = active.created_at + interval - self._now
        if left > timedelta(0):
            return self._resting(After(left))
        return self._mint()

    def _mint(self) -> Progress:
        """Listed only when it is there: engines do not start with a key that they cannot mount."""
        key = replaced(
            next_key(self.situation.instance, self.status, self.asked, now=self._now),
            phase=SigningKeyPhase.VALIDATION_ONLY.value,
        )
        found = judge_material(key, self.situation.of(key.secret_name))
        # Asked for in any case: what somebody else asked for under that name is found out by it, and never recorded.
        writes = (EnsureCertificate(key, is_new=True),)
        if not isinstance(found, Usable):
            warnings = found.warnings if isinstance(found, Rejected) else ()
            return replace(self._resting(POLL), writes=writes, warnings=warnings)
        minted = msgspec.structs.replace(
            self._settled(),
            signing_keys=[*self.status.signing_keys, found.key],
            signing_key_generation=self.status.signing_key_generation + 1,
        )
        return Progress(status=minted, look_again=AtOnce(), writes=writes)

    def _promote_when_usable(self, active: SigningKeyStatus, other: SigningKeyStatus) -> Progress:
        if not isinstance(judge_material(other, self.situation.of(other.secret_name)), Usable):
            return self._resting(POLL)
        return self._behind(RotationStep.PROMOTION, other, lambda: self._promote(active, other))

    def _promote(self, active: SigningKeyStatus, other: SigningKeyStatus) -> Progress:
        demoted = replaced(active, phase=SigningKeyPhase.VALIDATION_ONLY.value, demoted_at=self._now)
        promoted = replaced(other, phase=SigningKeyPhase.ACTIVE.value)
        return self._changed(demoted, promoted)

    def _anchor(self, other: SigningKeyStatus) -> Progress:
        """Not when it was demoted: engines go on signing with it until they roll."""
        return self._changed(replaced(other, retire_eligible_at=self._now))

    def _retire_when_expired(self, other: SigningKeyStatus, since: datetime) -> Progress:
        retained = _parsed(self.asked.retain_duration)
        if retained is None:
            # Nobody says for how long: it stays.
            return self._resting(POLL)
        left = since + max(retained, least_retention(self.local)) + SLACK - self._now
        if left > timedelta(0):
            return self._resting(After(left))
        return self._changed(replaced(other, phase=SigningKeyPhase.REMOVING.value))

    def _remove(self, other: SigningKeyStatus) -> Progress:
        left = [key for key in self.status.signing_keys if key.id != other.id]
        status = msgspec.structs.replace(self._settled(), signing_keys=left)
        return Progress(status=status, look_again=AtOnce(), writes=removed(self.situation, other))

    def _behind(self, step: RotationStep, key: SigningKeyStatus, advance: Advance) -> Progress:
        held = HeldKey(key.id, key.observed_public_key_fingerprint)
        match gate(step, held, self.situation.fleet, waited=self._waited(step)):
            case Open():
                return advance()
            case Closed(lagging):
                return self._waiting(step, lagging)
            case Unconfirmed():
                return Progress(status=self.status, look_again=AtOnce(), needs_live_fleet=True)
            case Unknown(problem):
                # What is known of the wait is kept: it goes on, whatever could not be read.
                return Progress(status=self.status, look_again=POLL, warnings=(_failed(step, problem),))

    def _waited(self, step: RotationStep) -> timedelta:
        since = self._since(step)
        return self._now - since if since is not None else timedelta(0)

    def _since(self, step: RotationStep) -> datetime | None:
        return self.status.pending_since if self.status.pending_rotation_step == step else None

    def _waiting(self, step: RotationStep, lagging: tuple[str, ...]) -> Progress:
        status = msgspec.structs.replace(
            self.status,
            pending_rotation_step=step.value,
            pending_since=self._since(step) or self._now,
            lagging_engines=list(lagging[:MOST_NAMED]),
            lagging_engine_count=len(lagging),
        )
        is_stalled = self._waited(step) >= STALLED_AFTER
        return Progress(status=status, look_again=POLL, warnings=(_stalled(status),) if is_stalled else ())

    def _changed(self, *keys: SigningKeyStatus) -> Progress:
        listed = self.status.signing_keys
        for key in keys:
            listed = with_key(listed, key)
        return Progress(status=msgspec.structs.replace(self._settled(), signing_keys=listed), look_again=AtOnce())

    def _resting(self, look_again: LookAgain) -> Progress:
        return Progress(status=self._settled(), look_again=look_again)

    def _settled(self) -> AuthStatus:
        """Nothing is waited for."""
        return msgspec.structs.replace(
            self.status, pending_rotation_step="", pending_since=None, lagging_engines=[], lagging_engine_count=0
        )


def removed(situation: AuthSituation, key: SigningKeyStatus) -> tuple[AuthWrite, ...]:
    """The Certificate first: cert-manager would make its Secret again."""
    issued, name = situation.of(key.secret_name), key.secret_name
    writes = list[AuthWrite]()
    if issued.certificate is not None:
        writes.append(DeleteCertificate(name, issued.certificate.uid))
    if issued.secret is not None and not wrong_secret(issued.secret, name):
        writes.append(DeleteSecret(name, issued.secret.uid))
    return tuple(writes)


def lagging_text(status: AuthStatus) -> str:
    more = status.lagging_engine_count - len(status.lagging_engines)
    named = ", ".join(status.lagging_engines)
    return f"{named} (and {more} more)" if more else named


def _stalled(status: AuthStatus) -> Warn:
    """Without the time that passed, so that repeated events are counted together."""
    note = (
        f"signing key rotation is stuck at {status.pending_rotation_step}; waiting for "
        f"{status.lagging_engine_count} engine(s): {lagging_text(status)}"
    )
    return Warn(reason=EventReason.SIGNING_KEY_ROTATION_STALLED, action=ACTION, note=note)


def _failed(step: RotationStep, problem: str) -> Warn:
    note = (
        f"signing key rotation step {step} failed and is tried again; authentication stays ready on the active key: "
        f"{problem}"
    )
    return Warn(reason=EventReason.SIGNING_KEY_ROTATION_STEP_FAILED, action=ACTION, note=note)


def _parsed(text: str | None) -> timedelta | None:
    return None if text is None else parse_duration(text)
