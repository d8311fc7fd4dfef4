"""Need a pass be run at all? Not if it would read what the last one read, and that one had nothing to do."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from firebolt_operator.evidence import Checks, gathering, still_holds
from firebolt_operator.runtime.controller import Outcome, Reconcile

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class _Conclusion:
    outcome: Outcome
    checks: Checks


@dataclass(slots=True)
class RestingPasses(Generic[K]):
    """Nothing is remembered of a pass that failed, that asked or told anybody anything, or that does not say itself
    that it is settled. A process that has just become leader remembers nothing.
    """

    reconcile: Reconcile[K]
    confirmed: Callable[[K], None]  # told of every pass that came to the same as the last one
    _conclusions: dict[K, _Conclusion] = field(default_factory=dict[K, _Conclusion])

    async def run(self, key: K) -> Outcome:
        known = self._conclusions.get(key)
        if known is not None and still_holds(known.checks):
            self.confirmed(key)
            return known.outcome
        self._conclusions.pop(key, None)
        with gathering() as evidence:
            outcome = await self.reconcile(key)
        if outcome.is_settled and not evidence.is_spoiled:
            self._conclusions[key] = _Conclusion(outcome, evidence.checks())
        return outcome
