"""Is authentication ready, and what has to be written for it? The words of `AuthReady`, and the keys behind them."""

from dataclasses import dataclass
from typing import Final

import msgspec

from firebolt_operator.api.auth import AuthStatus, LocalAuthSpec, SigningKeysSpec, SigningKeyStatus
from firebolt_operator.api.names import InstanceReason, SigningKeyPhase
from firebolt_operator.auth.decide.losses import without_lost
from firebolt_operator.auth.decide.material import Lost, Material, NotYet, Rejected, Usable, judge_material
from firebolt_operator.auth.decide.rotation import POLL, Progress, Rotation, lagging_text, removed
from firebolt_operator.auth.decide.signing_keys import (
    active_key,
    is_removing,
    next_key,
    normalised,
    other_key,
    replaced,
    with_key,
)
from firebolt_operator.auth.facts import AuthSituation
from firebolt_operator.auth.plan import AuthPlan, EnsureCertificate
from firebolt_operator.look_again import WHEN_CHANGED, AtOnce
from firebolt_operator.reconciling.verdicts import Verdict

DISABLED: Final = Verdict("True", InstanceReason.DISABLED, "spec.auth is unset or disabled")
READY: Final = Verdict("True", InstanceReason.READY, "admin credentials and JWT signing key are provisioned")
PENDING: Final = Verdict(
    "False", InstanceReason.SIGNING_KEY_PENDING, "waiting for cert-manager to issue the JWT signing keypair"
)
NO_CERT_MANAGER: Final = Verdict(
    "False",
    InstanceReason.SIGNING_KEY_PENDING,
    "waiting for cert-manager, which is not installed, to issue the JWT signing keypair",
)


def decide_auth(situation: AuthSituation) -> AuthPlan:
    spec = situation.spec
    if spec is None or not spec.enabled:
        return AuthPlan(status=_switched_off(situation.status), verdict=DISABLED, look_again=WHEN_CHANGED)
    if situation.spec_problem or spec.local is None or spec.local.signing_keys is None:
        return _kept(situation, _refused(InstanceReason.AUTH_SPEC_INVALID, situation.spec_problem))
    if situation.admin_problem:
        # Before any key is asked for: nothing is made for an instance that nobody could log in to.
        return _kept(situation, _refused(InstanceReason.ADMIN_SECRET_MISSING, situation.admin_problem))
    return _Keys(situation, spec.local, spec.local.signing_keys).decide()


def _switched_off(status: AuthStatus | None) -> AuthStatus | None:
    """The number survives: names of keys follow from it, and a key that was retired must never come back."""
    number = status.signing_key_generation if status else 0
    return AuthStatus(signing_key_generation=number) if number else None


def _kept(situation: AuthSituation, verdict: Verdict) -> AuthPlan:
    return AuthPlan(status=situation.status, verdict=verdict, look_again=POLL)


def _refused(reason: InstanceReason, message: str) -> Verdict:
    return Verdict("False", reason, message)


@dataclass(frozen=True, slots=True)
class _Keys:
    situation: AuthSituation
    local: LocalAuthSpec
    asked: SigningKeysSpec

    def decide(self) -> AuthPlan:
        status = self.situation.status or AuthStatus()
        keys = normalised(status.signing_keys)
        status = msgspec.structs.replace(status, signing_keys=keys)
        active = active_key(keys)
        return self._bootstrap(status) if active is None else self._go_on(status, active)

    def _bootstrap(self, status: AuthStatus) -> AuthPlan:
        """Recorded when it is there: an entry needs the time at which it was."""
        candidate = next_key(self.situation.instance, status, self.asked, now=self.situation.now)
        key = replaced(candidate, phase=SigningKeyPhase.ACTIVE.value)
        found = self._judged(key)
        # Asked for in any case: what somebody else asked for is found out by it, and never recorded.
        writes = self._ensured(key, is_new=True)
        if not isinstance(found, Usable):
            return self._unready(self.situation.status, found, writes)
        recorded = msgspec.structs.replace(
            status,
            signing_keys=[*status.signing_keys, found.key],
            signing_key_generation=status.signing_key_generation + 1,
        )
        return AuthPlan(status=recorded, verdict=READY, look_again=AtOnce(), writes=writes)

    def _go_on(self, status: AuthStatus, active: SigningKeyStatus) -> AuthPlan:
        active, other = self._described(active), other_key(status.signing_keys)
        is_kept = other is not None and not is_removing(other)
        kept = (active, other) if other and is_kept else (active,)
        judged = [self._judged(key) for key in kept]
        for found in judged:
            if isinstance(found, Usable):
                status = msgspec.structs.replace(status, signing_keys=with_key(status.signing_keys, found.key))
        if any(isinstance(found, Lost) for found in judged):
            return self._without_lost(status, judged)
        refused = next((found for found in judged if isinstance(found, Rejected)), None)
        if refused is not None or isinstance(judged[0], NotYet):
            return self._unready(status, refused or judged[0], self._ensured(*kept))
        progress = Rotation(self.situation, self.local, self.asked, status).decide()
        return self._ready(progress, kept)

    def _without_lost(self, status: AuthStatus, judged: list[Material]) -> AuthPlan:
        if not self.situation.fleet.is_live:
            # A cache may be behind what was witnessed, and a key is deleted for good.
            return AuthPlan(status=status, verdict=PENDING, look_again=POLL, needs_live_fleet=True)
        lost = [found for found in judged if isinstance(found, Lost)]
        left = without_lost(status, judged)
        return AuthPlan(
            status=left,
            verdict=READY if active_key(left.signing_keys) else PENDING,
            look_again=AtOnce(),
            writes=tuple(write for each in lost for write in removed(self.situation, each.key)),
            warnings=tuple(warning for each in lost for warning in each.warnings),
        )

    def _ready(self, progress: Progress, kept: tuple[SigningKeyStatus, ...]) -> AuthPlan:
        has_any = self.situation.has_cert_manager
        ours = (each for each in progress.writes if has_any or not isinstance(each, EnsureCertificate))
        return AuthPlan(
            status=progress.status,
            verdict=_ready_verdict(progress.status),
            look_again=progress.look_again,
            writes=(*self._ensured(*kept), *ours),
            warnings=progress.warnings,
            needs_live_fleet=progress.needs_live_fleet,
        )

    def _unready(self, status: AuthStatus | None, found: Material, writes: tuple[EnsureCertificate, ...]) -> AuthPlan:
        if isinstance(found, Rejected):
            verdict = _refused(InstanceReason.SIGNING_CERTIFICATE_ENSURE_FAILED, found.problem)
            return AuthPlan(status=status, verdict=verdict, look_again=POLL, writes=writes, warnings=found.warnings)
        verdict = PENDING if self.situation.has_cert_manager else NO_CERT_MANAGER
        return AuthPlan(status=status, verdict=verdict, look_again=POLL, writes=writes)

    def _described(self, active: SigningKeyStatus) -> SigningKeyStatus:
        """Older releases did not say what kind of key it is: the one that was asked for, which cannot have changed."""
        if active.algorithm and active.size:
            return active
        asked = next_key(self.situation.instance, None, self.asked, now=self.situation.now)
        return replaced(active, algorithm=active.algorithm or asked.algorithm, size=active.size or asked.size)

    def _judged(self, key: SigningKeyStatus) -> Material:
        return judge_material(key, self.situation.of(key.secret_name))

    def _ensured(self, *keys: SigningKeyStatus, is_new: bool = False) -> tuple[EnsureCertificate, ...]:
        return tuple(EnsureCertificate(key, is_new) for key in keys) if self.situation.has_cert_manager else ()


def _ready_verdict(status: AuthStatus) -> Verdict:
    if not status.pending_rotation_step:
        return READY
    text = (
        f"signing key rotation is waiting at {status.pending_rotation_step} for {status.lagging_engine_count} "
        f"engine(s) to converge: {lagging_text(status)}"
    )
    return Verdict("True", InstanceReason.ROTATION_WAITING_FOR_ENGINES, text)
