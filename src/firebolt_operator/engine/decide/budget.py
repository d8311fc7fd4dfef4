"""What has to become of an engine's disruption budget? It covers whatever queries are sent to. Pure.

A switch has two writes, the budget's and the Service's, and the process may die between them. So the budget covers both
generations before the Service moves, and only the new one once the status says that it did: there is no moment in which
a generation serves and a node drain may take all of it.
"""

from dataclasses import dataclass

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.kstatus import Stalled
from firebolt_operator.api.names import EnginePhase, EngineReason
from firebolt_operator.api.resources import POD_DISRUPTION_BUDGETS
from firebolt_operator.api.shares import share_problem
from firebolt_operator.engine.blueprint import Blueprint
from firebolt_operator.engine.decide.routing import serving_generation, whose
from firebolt_operator.engine.plan import Delete, Patch
from firebolt_operator.engine.views import Child
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPlan:
    """At most one write."""

    ensure: Manifest | None = None
    patch: Patch | None = None
    delete: Delete | None = None
    problem: Stalled | None = None


NOTHING = BudgetPlan()


def decide_budget(
    wanted: int | str | None, found: Child | None, status: EngineStatus, blueprint: Blueprint, uid: str
) -> BudgetPlan:
    if found is not None and (found.metadata.is_deleting or not found.is_owned_by(uid)):
        is_taken = wanted is not None and not found.is_owned_by(uid)
        return BudgetPlan(problem=_taken(found)) if is_taken else NOTHING
    most = _most(wanted, found)
    if most is None:
        return BudgetPlan(delete=Delete(POD_DISRUPTION_BUDGETS, found)) if found and wanted is None else NOTHING
    if found is not None and "minAvailable" in found.spec:
        # Somebody's edit: a budget has one of the two, and an apply could not take the other one away.
        change = {"spec": {"minAvailable": None, "maxUnavailable": most}}
        return BudgetPlan(patch=Patch(POD_DISRUPTION_BUDGETS, found, change))
    return BudgetPlan(ensure=blueprint.disruption_budget(covered_generations(status), most))


def covered_generations(status: EngineStatus) -> frozenset[int]:
    is_switching = status.phase == EnginePhase.SWITCHING
    return frozenset({serving_generation(status), *([status.current_generation] if is_switching else [])})


def _most(wanted: int | str | None, found: Child | None) -> int | str | None:
    """A mistake changes nothing until it is mended: what is guarded stays guarded, as it was."""
    if wanted is None or not share_problem(wanted):
        return wanted
    return found.spec.get("maxUnavailable") if found else None


def _taken(found: Child) -> Stalled:
    text = (
        f"PodDisruptionBudget {found.metadata.name} {whose(found)}; delete or rename it, or drop"
        " spec.podDisruptionBudget: until then node drains are not limited by it"
    )
    return Stalled(EngineReason.ENSURE_FAILED, text)
