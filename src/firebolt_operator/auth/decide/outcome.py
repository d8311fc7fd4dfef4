"""What does an instance say of its authentication when something could not be read or written?

Engines wait for `AuthReady`. A key that they use already is as good as before, whatever failed meanwhile.
"""

from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.auth import AuthStatus
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import InstanceStatus
from firebolt_operator.api.names import EventReason, InstanceReason
from firebolt_operator.auth.decide.material import ACTION
from firebolt_operator.auth.decide.rotation import POLL
from firebolt_operator.auth.decide.signing_keys import active_key, normalised
from firebolt_operator.auth.plan import AuthPlan
from firebolt_operator.errors import OperatorError, TransientError
from firebolt_operator.look_again import LookAgain
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Warn


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthOutcome:
    """What the pass of an instance goes on with. `error` is raised when all the rest is done."""

    status: AuthStatus | None
    verdict: Verdict
    look_again: LookAgain
    warnings: tuple[Warn, ...] = ()
    error: OperatorError | None = None


def carried_out(plan: AuthPlan) -> AuthOutcome:
    return AuthOutcome(status=plan.status, verdict=plan.verdict, look_again=plan.look_again, warnings=plan.warnings)


def not_carried_out(plan: AuthPlan, before: InstanceStatus, error: OperatorError) -> AuthOutcome:
    """The status stays as it is: the step is decided again, and repeated."""
    listed = normalised(before.auth.signing_keys) if before.auth else []
    is_ready = plan.verdict.status == "True" and active_key(listed) is not None
    note = (
        f"a step of the signing keys failed and is tried again; authentication stays ready on the active key: {error}"
    )
    failed = Warn(reason=EventReason.SIGNING_KEY_ROTATION_STEP_FAILED, action=ACTION, note=note)
    return AuthOutcome(
        status=before.auth,
        verdict=plan.verdict if is_ready else _refused(error),
        look_again=POLL,
        warnings=(*plan.warnings, *((failed,) if is_ready else ())),
        error=error,
    )


def not_read(before: InstanceStatus, error: OperatorError) -> AuthOutcome:
    known = find_condition(before.conditions, names.CONDITION_AUTH_READY)
    verdict = _refused(error)
    if isinstance(error, TransientError) and known is not None and known.reason != InstanceReason.DISABLED:
        # The server will answer again; until then nobody knows better than before.
        verdict = Verdict(known.status, known.reason, known.message)
    return AuthOutcome(status=before.auth, verdict=verdict, look_again=POLL, error=error)


def _refused(error: OperatorError) -> Verdict:
    return Verdict("False", InstanceReason.SIGNING_CERTIFICATE_ENSURE_FAILED, str(error))
