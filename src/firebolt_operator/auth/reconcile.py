"""The step of an instance's pass for its authentication: look, decide, confirm, write. It never ends the pass."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.auth.act.writes import AuthActor
from firebolt_operator.auth.decide.outcome import AuthOutcome, carried_out, not_carried_out, not_read
from firebolt_operator.auth.decide.provisioning import decide_auth
from firebolt_operator.auth.observe.observer import AuthObserver
from firebolt_operator.auth.plan import AuthPlan
from firebolt_operator.errors import FencedError, OperatorError
from firebolt_operator.runtime.objects import Key

DISCOVERY_SECONDS: Final = 5.0  # for the first answer, when the process has just started

log = logging.getLogger("firebolt_operator.auth")


@dataclass(frozen=True, slots=True)
class AuthStep:
    observer: AuthObserver
    actor: AuthActor

    async def run(self, instance: FireboltInstance, *, is_first_look: bool) -> AuthOutcome:
        """`is_first_look`: what a former leader did last may be in no cache yet."""
        try:
            plan = await self._observe_and_decide(instance, is_live=is_first_look)
        except FencedError:
            raise
        except OperatorError as err:
            log.warning("authentication could not be looked at", extra={"error": err})
            return not_read(instance.status, err)
        try:
            await self.actor.carry_out(instance, plan.writes)
        except FencedError:
            raise
        except OperatorError as err:
            log.warning("a step of the signing keys failed", extra={"error": err})
            return not_carried_out(plan, instance.status, err)
        return carried_out(plan)

    def forget(self, instance: Key) -> None:
        self.observer.secrets.watches.forget(instance)

    async def _observe_and_decide(self, instance: FireboltInstance, *, is_live: bool) -> AuthPlan:
        if instance.spec.asks_for_auth:
            await self._await_discovery()
        plan = decide_auth(await self.observer.situation(instance, is_live=is_live))
        if plan.needs_live_fleet:
            plan = decide_auth(await self.observer.situation(instance, is_live=True))
        return plan

    async def _await_discovery(self) -> None:
        try:
            async with asyncio.timeout(DISCOVERY_SECONDS):
                await self.observer.certificates.discovered.wait()
        except TimeoutError:
            log.warning("nobody has told yet whether cert-manager is there")
