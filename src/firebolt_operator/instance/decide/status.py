"""The status of an instance: which endpoints are published, what its conditions say, and the phase that follows."""

from dataclasses import dataclass
from datetime import datetime

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition, with_condition
from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.api.kstatus import Progress, Reconciling, Stalled, with_progress
from firebolt_operator.api.names import InstancePhase, InstanceReason
from firebolt_operator.auth.decide.outcome import AuthOutcome
from firebolt_operator.instance.decide.conditions import (
    FEATURES,
    GATEWAY_PROVISIONING,
    GATEWAY_READY,
    METADATA_PROVISIONING,
    METADATA_READY,
    STALLING,
    roll_up,
    shortened,
)
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.tls.plan import TLSOutcome


def metadata_endpoint(instance: FireboltInstance) -> str:
    metadata = instance.metadata
    return f"{names.metadata_name(metadata.name)}.{metadata.namespace}.svc.cluster.local:{names.PORT_METADATA}"


def gateway_endpoint(instance: FireboltInstance) -> str:
    return f"{names.gateway_name(instance.metadata.name)}.{instance.metadata.namespace}.svc.cluster.local"


def phase_after(phase: str, *, is_ready: bool) -> InstancePhase:
    """Follows from the roll-up alone: booleans and endpoints keep old values in passes that end early."""
    if phase == InstancePhase.FAILED:
        return InstancePhase.FAILED
    if is_ready:
        return InstancePhase.READY
    return (
        InstancePhase.DEGRADED if phase in {InstancePhase.READY, InstancePhase.DEGRADED} else InstancePhase.PROVISIONING
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """A status in the making; each step gives the next draft, and `finished` the status to write."""

    instance: FireboltInstance
    now: datetime
    status: InstanceStatus

    def told(self, kind: str, verdict: Verdict) -> "Draft":
        condition = shortened(verdict).dated(kind, spec_generation=self.instance.metadata.generation, now=self.now)
        return self._but(conditions=with_condition(self.status.conditions, condition))

    def with_features(self, auth: AuthOutcome | None, tls: TLSOutcome | None) -> "Draft":
        if auth is None or tls is None:
            raise RuntimeError(f"nobody looked at the authentication and the TLS of {self.instance.metadata.name}")
        plan = tls.plan
        draft = self._but(
            auth=auth.status,
            engine_tls=plan.engine_status,
            gateway_tls=plan.gateway_status,
            rolled_engine_trust_cas=sorted(plan.published),
        )
        draft = draft.told(names.CONDITION_AUTH_READY, auth.verdict)
        draft = draft.told(names.CONDITION_ENGINE_TLS_READY, plan.engine_verdict)
        return draft.told(names.CONDITION_GATEWAY_TLS_READY, plan.gateway_verdict)

    def with_metadata_service(self, *, is_ready: bool) -> "Draft":
        if not is_ready:
            return self.without_metadata_service().told(names.CONDITION_METADATA_READY, METADATA_PROVISIONING)
        published = self._but(
            metadata_ready=True,
            metadata_endpoint=metadata_endpoint(self.instance),
            # From here on engines know the id.
            instance_id=self.instance.spec.id,
        )
        return published.told(names.CONDITION_METADATA_READY, METADATA_READY)

    def with_gateway(self, *, is_ready: bool) -> "Draft":
        if not is_ready:
            return self.without_gateway().told(names.CONDITION_GATEWAY_READY, GATEWAY_PROVISIONING)
        published = self._but(gateway_ready=True, gateway_endpoint=gateway_endpoint(self.instance))
        return published.told(names.CONDITION_GATEWAY_READY, GATEWAY_READY)

    def without_metadata_service(self) -> "Draft":
        """Engines see the cleared endpoint and wait."""
        return self._but(metadata_ready=False, metadata_endpoint="")

    def without_gateway(self) -> "Draft":
        return self._but(gateway_ready=False, gateway_endpoint="")

    def metadata_service_lost(self) -> "Draft":
        """For a pass that ends before the component's turn: it takes away what is gone and adds nothing."""
        draft = self.without_metadata_service()
        if not self._says(names.CONDITION_METADATA_READY):
            return draft
        return draft.told(names.CONDITION_METADATA_READY, METADATA_PROVISIONING)

    def gateway_lost(self) -> "Draft":
        draft = self.without_gateway()
        if not self._says(names.CONDITION_GATEWAY_READY):
            return draft
        return draft.told(names.CONDITION_GATEWAY_READY, GATEWAY_PROVISIONING)

    def in_phase(self, phase: InstancePhase) -> "Draft":
        return self._but(phase=phase.value)

    def begun(self, why: str) -> InstanceStatus:
        """Before anything was looked at: for a new instance, and for one that a person cleared."""
        return self.in_phase(InstancePhase.PROVISIONING).stamped(Reconciling(InstanceReason.PROVISIONING, why))

    def finished(self, *, stalled_by: str = "") -> InstanceStatus:
        """`stalled_by` is the condition that only a person can mend, if there is one.

        The phase comes strictly after the roll-up that it is read from.
        """
        verdict = roll_up(self.status.conditions)
        phase = phase_after(self.status.phase, is_ready=verdict.status == "True")
        progress = self._progress(stalled_by or self._stalling_feature(), verdict)
        return self.told(names.CONDITION_READY, verdict).in_phase(phase).stamped(progress)

    def _progress(self, stalled_by: str, ready: Verdict) -> Progress:
        culprit = find_condition(self.status.conditions, stalled_by)
        if culprit is not None:
            return Stalled(culprit.reason, f"{stalled_by}: {culprit.message}")
        if InstancePhase(self.status.phase) is InstancePhase.FAILED:
            return Stalled(ready.reason, ready.message)
        if ready.status != "True":
            return Reconciling(ready.reason, ready.message)
        auth = find_condition(self.status.conditions, names.CONDITION_AUTH_READY)
        if auth is None or auth.is_true:
            return None
        # No part of Ready: engines that run go on, and only new generations wait.
        return Reconciling(auth.reason, f"{auth.type}: {auth.message}")

    def _stalling_feature(self) -> str:
        found = (find_condition(self.status.conditions, kind) for kind in FEATURES)
        return next((each.type for each in found if each and not each.is_true and each.reason in STALLING), "")

    def stamped(self, progress: Progress) -> InstanceStatus:
        """With its progress and the generation that all of it was found out about."""
        spec_generation = self.instance.metadata.generation
        conditions = with_progress(self.status.conditions, progress, spec_generation=spec_generation, now=self.now)
        return self._but(conditions=conditions, observed_generation=spec_generation).status

    def _says(self, kind: str) -> bool:
        condition = find_condition(self.status.conditions, kind)
        return condition is not None and condition.is_true

    def _but(self, **changes: object) -> "Draft":
        return Draft(self.instance, self.now, msgspec.structs.replace(self.status, **changes))
