"""Which StatefulSets would restart serving pods when somebody edits them? Those that do not wait for a deletion."""

from firebolt_operator.api.resources import STATEFULSETS
from firebolt_operator.engine.blueprint import UPDATE_STRATEGY
from firebolt_operator.engine.facts import EngineFacts
from firebolt_operator.engine.plan import Patch
from firebolt_operator.engine.views import Child
from firebolt_operator.refs import Manifest


def update_strategy_patches(facts: EngineFacts, uid: str) -> tuple[Patch, ...]:
    """A StatefulSet with another strategy is as good as any: it is patched, no generation starts."""
    seen = (facts.current.statefulset, facts.active.statefulset, facts.draining.statefulset)
    odd = {child.metadata.uid: child for child in seen if child is not None and _is_odd(child, uid)}
    return tuple(Patch(STATEFULSETS, child, {"spec": {"updateStrategy": _merged()}}) for child in odd.values())


def _is_odd(statefulset: Child, uid: str) -> bool:
    is_ours = statefulset.is_owned_by(uid) and not statefulset.metadata.is_deleting
    return is_ours and statefulset.spec.get("updateStrategy") != {"type": UPDATE_STRATEGY}


def _merged() -> Manifest:
    # Removed by name: an apply leaves the partition that the API server filled in, and is refused because of it.
    return {"type": UPDATE_STRATEGY, "rollingUpdate": None}
