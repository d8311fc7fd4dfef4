"""Keeps an engine's disruption budget. What is refused for good keeps nothing else from being done for queries."""

import logging
from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.kstatus import Stalled
from firebolt_operator.api.names import EngineReason
from firebolt_operator.api.resources import POD_DISRUPTION_BUDGETS
from firebolt_operator.engine.act.writes import Actor, delete_child
from firebolt_operator.engine.blueprint import Blueprint
from firebolt_operator.engine.decide.budget import BudgetPlan, decide_budget
from firebolt_operator.engine.observe.observer import Observer
from firebolt_operator.engine.plan import Delete
from firebolt_operator.errors import RejectedError, UnreadableError

log = logging.getLogger("firebolt_operator.engine")


@dataclass(frozen=True, slots=True)
class BudgetKeeper:
    observer: Observer
    actor: Actor

    async def keep(self, engine: FireboltEngine, wanted: int | str | None, blueprint: Blueprint) -> Stalled | None:
        """What a person must mend. Raises what may go better the next time, and before the Service moves."""
        metadata = engine.metadata
        try:
            found = await self.observer.disruption_budget(metadata, is_wanted=wanted is not None)
            plan = decide_budget(wanted, found, engine.status, blueprint, metadata.uid)
            await self._carry_out(plan)
        except (RejectedError, UnreadableError) as err:
            # It will be refused again: a pass that failed for it would only come to everything else later.
            log.warning("disruption budget not kept", extra={"problem": str(err)})
            name = names.disruption_budget_name(metadata.name)
            text = f"PodDisruptionBudget {name}: {err}; until then node drains are not limited by it"
            return Stalled(EngineReason.ENSURE_FAILED, text)
        return plan.problem

    async def remove(self, engine: FireboltEngine) -> None:
        """Of a deleted engine, if it is known. What is not, or is refused, goes by its owner reference."""
        try:
            known = await self.observer.disruption_budget(engine.metadata, is_wanted=False)
            if known is not None and known.is_owned_by(engine.metadata.uid):
                await delete_child(self.actor.writer, Delete(POD_DISRUPTION_BUDGETS, known))
        except (RejectedError, UnreadableError) as err:
            log.warning("disruption budget left to its owner reference", extra={"problem": str(err)})

    async def _carry_out(self, plan: BudgetPlan) -> None:
        if plan.ensure is not None:
            await self.actor.ensure([plan.ensure])
        if plan.patch is not None:
            await self.actor.patch(plan.patch)
        if plan.delete is not None:
            await delete_child(self.actor.writer, plan.delete)
