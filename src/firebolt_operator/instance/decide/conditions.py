"""What is true of an instance, in the words of its conditions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.conditions import Condition, find_condition
from firebolt_operator.api.names import InstanceReason
from firebolt_operator.reconciling.verdicts import Verdict

MOST_CHARACTERS: Final = 16_384
"""Longest message: half of what a condition takes, because the roll-up puts words in front of it."""

ROLLED_UP: Final = (
    names.CONDITION_METADATA_READY,
    names.CONDITION_GATEWAY_READY,
    names.CONDITION_ENGINE_TLS_READY,
    names.CONDITION_GATEWAY_TLS_READY,
)
FEATURES: Final = (
    names.CONDITION_AUTH_READY,
    names.CONDITION_ENGINE_TLS_READY,
    names.CONDITION_GATEWAY_TLS_READY,
)
STALLING: Final = frozenset(
    {
        InstanceReason.AUTH_SPEC_INVALID,
        InstanceReason.ADMIN_SECRET_MISSING,
        InstanceReason.SIGNING_CERTIFICATE_ENSURE_FAILED,
        InstanceReason.TLS_SPEC_INVALID,
    }
)
"""Reasons of a feature that wait for a person; others pass by themselves."""


METADATA_READY: Final = Verdict("True", InstanceReason.READY, "metadata Deployment has at least one ready replica")
METADATA_PROVISIONING: Final = Verdict(
    "False", InstanceReason.PROVISIONING, "metadata Deployment has no ready replicas yet"
)
GATEWAY_READY: Final = Verdict("True", InstanceReason.READY, "gateway Deployment has at least one ready replica")
GATEWAY_PROVISIONING: Final = Verdict(
    "False", InstanceReason.PROVISIONING, "gateway Deployment has no ready replicas yet"
)


def shortened(verdict: Verdict) -> Verdict:
    message = verdict.message
    if len(message) <= MOST_CHARACTERS:
        return verdict
    return replace(verdict, message=f"{message[:MOST_CHARACTERS]}...")


def roll_up(conditions: Sequence[Condition]) -> Verdict:
    """`Ready`: the first component that is unknown or not ready speaks for all."""
    for kind in ROLLED_UP:
        found = find_condition(conditions, kind)
        if found is None:
            return Verdict("False", InstanceReason.INITIALIZING, f"{kind} has not been observed yet")
        if not found.is_true:
            return Verdict("False", found.reason, f"{kind}: {found.message}")
    return Verdict("True", InstanceReason.ALL_COMPONENTS_READY, "metadata, gateway, and TLS certificates are ready")
