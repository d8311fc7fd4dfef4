"""What a pass decided about the TLS of an instance."""

from dataclasses import dataclass, field

from firebolt_operator.api.tls import EngineTLSStatus, GatewayTLSStatus
from firebolt_operator.errors import OperatorError
from firebolt_operator.look_again import WHEN_CHANGED, LookAgain
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.tls.facts import SecretRevisions, TrustBundle


@dataclass(frozen=True, slots=True, kw_only=True)
class TLSPlan:
    """`holds_gateway`: its objects stay as they are, because what they would become is not recorded yet, or unknown."""

    engine_status: EngineTLSStatus | None
    engine_verdict: Verdict
    gateway_status: GatewayTLSStatus | None
    gateway_verdict: Verdict
    published: frozenset[str] = frozenset()  # CAs that engines are told of
    bundle: TrustBundle | None = None  # None: nobody needs one now; what is there stays
    revisions: SecretRevisions = field(default_factory=SecretRevisions)
    holds_gateway: bool = False
    revocation_problem: str = ""  # why a list of what was revoked cannot be given to the gateway
    ensures_anchor: bool = False
    ensures_certificate: bool = False
    look_again: LookAgain = WHEN_CHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class TLSOutcome:
    """What the pass of an instance goes on with. `error` is raised when all the rest is done."""

    plan: TLSPlan
    error: OperatorError | None = None
