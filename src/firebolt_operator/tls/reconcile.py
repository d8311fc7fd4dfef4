"""The step of an instance's pass for its TLS: look, decide, ask for certificates. It never ends the pass."""

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import Final

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.tls import TLSListener
from firebolt_operator.errors import FencedError, OperatorError, TransientError
from firebolt_operator.reconciling.certificates import CertificateWriter
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.objects import Key
from firebolt_operator.tls import served
from firebolt_operator.tls.decide.instance_tls import RevisedConfigs, decide_tls
from firebolt_operator.tls.decide.outcome import not_read, untouched
from firebolt_operator.tls.facts import EnsureProblem, GatewaySeen, TLSSituation
from firebolt_operator.tls.observe.observer import TLSObserver
from firebolt_operator.tls.plan import TLSOutcome, TLSPlan
from firebolt_operator.tls.render.certificates import anchor_certificate, gateway_certificate

DISCOVERY_SECONDS: Final = 5.0  # for the first answer, when the process has just started

log = logging.getLogger("firebolt_operator.tls")


@dataclass(frozen=True, slots=True)
class TLSStep:
    observer: TLSObserver
    writer: CertificateWriter

    async def run(
        self, instance: FireboltInstance, gateway: GatewaySeen, configs: RevisedConfigs, *, is_first_look: bool
    ) -> TLSOutcome:
        """`is_first_look`: what a former leader did last may be in no cache yet."""
        status = instance.status
        if instance.spec.tls is None and status.engine_tls is None and status.gateway_tls is None:
            self.observer.forget(instance)
            return untouched()
        try:
            situation, plan = await self._observe_and_decide(instance, gateway, configs, is_live=is_first_look)
        except FencedError:
            raise
        except OperatorError as err:
            log.warning("TLS could not be looked at", extra={"error": err})
            return not_read(instance, err)
        return await self._ask_for_certificates(situation, plan, configs)

    def forget(self, instance: Key) -> None:
        self.observer.watches.forget(instance)

    async def _observe_and_decide(
        self, instance: FireboltInstance, gateway: GatewaySeen, configs: RevisedConfigs, *, is_live: bool
    ) -> tuple[TLSSituation, TLSPlan]:
        await self._await_discovery()
        situation = await self.observer.situation(instance, gateway, is_live=is_live)
        plan = decide_tls(situation, configs)
        if plan.engine_status == instance.status.engine_tls or is_live:
            return situation, plan
        # A cache cannot know of an engine that was born, or switched, a moment ago.
        situation = await self.observer.situation(instance, gateway, is_live=True)
        return situation, decide_tls(situation, configs)

    async def _ask_for_certificates(
        self, situation: TLSSituation, plan: TLSPlan, configs: RevisedConfigs
    ) -> TLSOutcome:
        """Whatever else is waited for: it takes time, and goes on while a listener is closed."""
        instance, engines = situation.instance, served.engine_listener(situation.instance)
        gateway = served.gateway_listener(instance)
        first = await self._ensure(instance, _anchor(instance, engines) if plan.ensures_anchor else None)
        second = await self._ensure(instance, _certificate(instance, gateway) if plan.ensures_certificate else None)
        if first is None and second is None:
            return TLSOutcome(plan=plan)
        situation = replace(situation, engine_problem=_problem(first), gateway_problem=_problem(second))
        return TLSOutcome(plan=decide_tls(situation, configs), error=first or second)

    async def _ensure(self, instance: FireboltInstance, manifest: Manifest | None) -> OperatorError | None:
        if manifest is None:
            return None
        try:
            await self.writer.ensure(instance.metadata.uid, manifest)
        except FencedError:
            raise
        except OperatorError as err:
            log.warning("a certificate could not be asked for", extra={"error": err})
            return err
        return None

    async def _await_discovery(self) -> None:
        try:
            async with asyncio.timeout(DISCOVERY_SECONDS):
                await self.observer.certificates.discovered.wait()
        except TimeoutError:
            log.warning("nobody has told yet whether cert-manager is there")


def _anchor(instance: FireboltInstance, listener: TLSListener | None) -> Manifest | None:
    asked = listener.cert_manager if listener else None
    return anchor_certificate(instance, asked) if asked else None


def _certificate(instance: FireboltInstance, listener: TLSListener | None) -> Manifest | None:
    asked = listener.cert_manager if listener else None
    return gateway_certificate(instance, listener, asked) if listener and asked else None


def _problem(error: OperatorError | None) -> EnsureProblem | None:
    return EnsureProblem(str(error), isinstance(error, TransientError)) if error else None
