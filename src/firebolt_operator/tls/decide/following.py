"""Has the gateway followed its engines? Until every pod has, queries are refused, and `EngineTLSReady` says so."""

from typing import Final

from firebolt_operator.api.conditions import Condition
from firebolt_operator.api.names import InstanceReason
from firebolt_operator.reconciling.verdicts import Verdict

ONTO_TLS: Final = Verdict(
    "False", InstanceReason.CONVERGING, "every engine speaks TLS; waiting for the gateway to be rolled onto it"
)
BACK: Final = Verdict(
    "False", InstanceReason.DRAINING, "no engine speaks TLS any more; waiting for the gateway to be rolled back"
)
_UNDER_WAY: Final = frozenset({InstanceReason.CONVERGING, InstanceReason.DRAINING})


def followed(verdict: Verdict, before: Condition | None, *, is_recorded: bool, is_served: bool) -> Verdict:
    """`is_served`: all pods of the gateway have what is recorded. Later rollouts take nobody's word back."""
    if verdict.status != "True" or (is_recorded and is_served):
        return verdict
    is_under_way = before is not None and not before.is_true and before.reason in _UNDER_WAY
    if is_recorded and not is_under_way:
        return verdict
    return BACK if verdict.reason == InstanceReason.DISABLED else ONTO_TLS
