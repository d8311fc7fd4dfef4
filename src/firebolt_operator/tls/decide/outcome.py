"""What does an instance say of its TLS when nobody asks for it, or when something could not be read?"""

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.errors import OperatorError, TransientError
from firebolt_operator.tls.decide import engine_listeners, gateway_posture
from firebolt_operator.tls.decide.instance_tls import POLL
from firebolt_operator.tls.decide.kept_verdicts import kept_verdict
from firebolt_operator.tls.facts import EnsureProblem
from firebolt_operator.tls.plan import TLSOutcome, TLSPlan


def untouched() -> TLSOutcome:
    """It is asked for nowhere, and nothing of it is left."""
    plan = TLSPlan(
        engine_status=None,
        engine_verdict=engine_listeners.DISABLED,
        gateway_status=None,
        gateway_verdict=gateway_posture.DISABLED,
    )
    return TLSOutcome(plan=plan)


def not_read(instance: FireboltInstance, error: OperatorError) -> TLSOutcome:
    """Everything stays as it is, the gateway as well: what it would become is not known."""
    status, problem = instance.status, EnsureProblem(str(error), isinstance(error, TransientError))
    plan = TLSPlan(
        engine_status=status.engine_tls,
        engine_verdict=kept_verdict(instance, names.CONDITION_ENGINE_TLS_READY, problem),
        gateway_status=status.gateway_tls,
        gateway_verdict=kept_verdict(instance, names.CONDITION_GATEWAY_TLS_READY, problem),
        published=frozenset(status.rolled_engine_trust_cas),
        holds_gateway=True,
        look_again=POLL,
    )
    return TLSOutcome(plan=plan, error=error)
