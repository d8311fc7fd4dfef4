"""What must be settled on the instance itself before its objects are looked at? One small write per pass."""

from datetime import datetime

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.api.names import InstancePhase
from firebolt_operator.instance.decide.failures import asks_to_clear
from firebolt_operator.instance.decide.status import Draft
from firebolt_operator.instance.plan import AT_ONCE, InstancePlan
from firebolt_operator.refs import Manifest


def decide_setup(instance: FireboltInstance, *, new_id: str, now: datetime) -> InstancePlan | None:
    """None when there is nothing; an instance that is being deleted is not asked."""
    status, finalizers = instance.status, instance.metadata.finalizers
    if names.FINALIZER_INSTANCE not in finalizers:
        patch: Manifest = {"metadata": {"finalizers": [*finalizers, names.FINALIZER_INSTANCE]}}
        return _patched(status, "adding the finalizer", patch)
    if not instance.spec.id:
        # An id that engines know and that somebody removed is put back: a new one would cut them off from their data.
        return _patched(status, "giving the instance its id", {"spec": {"id": status.instance_id or new_id}})
    if asks_to_clear(instance):
        return _decide_clearing(instance, now)
    if InstancePhase(status.phase) is InstancePhase.UNSET:
        return _restarted(Draft(instance, now, status), "provisioning begins")
    return None


def _decide_clearing(instance: FireboltInstance, now: datetime) -> InstancePlan:
    """The phase first, the wish second: whoever dies in between finds the wish again, and then only removes it."""
    if InstancePhase(instance.status.phase) is not InstancePhase.FAILED:
        patch: Manifest = {"metadata": {"annotations": {names.ANNOTATION_CLEAR_FAILED: None}}}
        return _patched(instance.status, "removing the wish to clear Failed", patch)
    # Without the recorded id the present one is accepted, and recorded when it is published.
    accepting = msgspec.structs.replace(instance.status, instance_id="")
    return _restarted(Draft(instance, now, accepting), "Failed was cleared by a person")


def _patched(status: InstanceStatus, reason: str, patch: Manifest) -> InstancePlan:
    return InstancePlan(reason=reason, status=status, look_again=AT_ONCE, patch=patch)


def _restarted(draft: Draft, reason: str) -> InstancePlan:
    return InstancePlan(reason=reason, status=draft.begun(reason), look_again=AT_ONCE)
