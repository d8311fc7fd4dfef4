"""Is the instance to blame?"""

from typing import Final

from kubectl_firebolt import names
from kubectl_firebolt.explain.decide.pods import pod_findings
from kubectl_firebolt.explain.decide.reasons import INSTANCE_FIXES, INSTANCE_ON_ITS_WAY, fix_for
from kubectl_firebolt.explain.finding import Finding, blocks, waits
from kubectl_firebolt.explain.seen import Seen
from kubectl_firebolt.manifest import Manifest, condition_of, is_deleting, is_true, name_of, status_of
from kubectl_firebolt.names import InstancePhase

_COMPONENTS: Final = (
    names.CONDITION_METADATA_READY,
    names.CONDITION_GATEWAY_READY,
    names.CONDITION_AUTH_READY,
    names.CONDITION_ENGINE_TLS_READY,
    names.CONDITION_GATEWAY_TLS_READY,
)


def instance_findings(seen: Seen, instance: Manifest) -> list[Finding]:
    """One for every component that is not ready, then what its pods say."""
    told = [found for kind in _COMPONENTS for found in [_component(instance, kind)] if found]
    findings = [*told, *pod_findings(seen, seen.components)]
    if findings or is_true(condition_of(instance, names.CONDITION_READY)):
        return findings
    return _phase(instance)


def blamed_instance(seen: Seen) -> list[Finding]:
    """Of an engine whose gate is shut."""
    wanted = str(seen.spec.get("instanceRef", ""))
    if seen.instance is None:
        what = f'instance "{wanted}" is not in this namespace'
        return [
            blocks(
                what, "create it here, or delete the engine and create it for another: instanceRef cannot be changed"
            )
        ]
    if is_deleting(seen.instance):
        what = f'instance "{wanted}" is being deleted'
        return [blocks(what, "see what holds it", seen.plugin("explain", f"instance/{wanted}"))]
    return instance_findings(seen, seen.instance)


def _component(instance: Manifest, kind: str) -> Finding | None:
    condition = condition_of(instance, kind)
    if condition is None or is_true(condition):
        return None
    reason, message = str(condition.get("reason", "")), str(condition.get("message", ""))
    what = f'instance "{name_of(instance)}", {kind}: {reason}: {message}'
    weigh = waits if reason in INSTANCE_ON_ITS_WAY else blocks
    return weigh(what, fix_for(INSTANCE_FIXES, reason))


def _phase(instance: Manifest) -> list[Finding]:
    phase = str(status_of(instance).get("phase", "")) or "new"
    what = f'instance "{name_of(instance)}" is {phase}'
    if phase == InstancePhase.FAILED:
        fix = f"mend the cause, then annotate it {names.ANNOTATION_CLEAR_FAILED}=true"
        return [blocks(what, fix)]
    if phase == InstancePhase.READY:
        return []
    return [waits(what, "give it time; it says no more yet")]
