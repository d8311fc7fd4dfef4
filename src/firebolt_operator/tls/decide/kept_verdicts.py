"""What is said of a listener while the server gives no answer about it? What was said of the same spec before."""

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import InstanceReason
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.tls.facts import EnsureProblem


def kept_verdict(instance: FireboltInstance, kind: str, problem: EnsureProblem) -> Verdict:
    """Of another spec it may be untrue: what that one asks for may not be served yet."""
    known = find_condition(instance.status.conditions, kind)
    is_same_spec = known is not None and known.observed_generation == instance.metadata.generation
    if problem.is_passing and known is not None and is_same_spec:
        return Verdict(known.status, known.reason, known.message)
    return Verdict("False", InstanceReason.CERTIFICATE_ENSURE_FAILED, problem.text)
