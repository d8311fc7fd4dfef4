"""The step for TLS: what it looks at twice, what it asks for, and what becomes of a pass when something fails."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.errors import FencedError, OperatorError, RejectedError, TransientError
from firebolt_operator.refs import Manifest
from firebolt_operator.tls.facts import EngineListener, GatewaySeen, Listeners, TLSSituation
from firebolt_operator.tls.plan import TLSOutcome
from firebolt_operator.tls.reconcile import TLSStep
from tests.support.admission import tls
from tests.support.instances import a_ready_status, an_instance
from tests.unit.tls.decide.test_instance_tls import EVERYTHING, REENCRYPTING, Configs

BOTH: Manifest = {"tls": {**tls.engine(**tls.issued())["tls"], **tls.gateway(**tls.issued())["tls"]}}


@dataclass
class Kind:
    discovered: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Watches:
    forgotten: list[object] = field(default_factory=list[object])

    def forget(self, key: object) -> None:
        self.forgotten.append(key)


@dataclass
class Observer:
    """Tells `live` who looks live, and `known` everybody else."""

    known: TLSSituation
    live: TLSSituation
    error: OperatorError | None = None
    looks: list[bool] = field(default_factory=list[bool])
    certificates: Kind = field(default_factory=Kind)
    watches: Watches = field(default_factory=Watches)

    async def situation(self, instance: FireboltInstance, gateway: GatewaySeen, *, is_live: bool) -> TLSSituation:
        del instance, gateway
        self.looks.append(is_live)
        if self.error is not None:
            raise self.error
        return self.live if is_live else self.known

    def forget(self, instance: FireboltInstance) -> None:
        self.watches.forget(instance.metadata.name)


@dataclass
class Certificates:
    errors: dict[str, OperatorError] = field(default_factory=dict[str, OperatorError])
    asked: list[str] = field(default_factory=list[str])

    async def ensure(self, owner_uid: str, manifest: Manifest) -> None:
        assert owner_uid == "uid-1"
        name = manifest["metadata"]["name"]
        self.asked.append(name)
        if name in self.errors:
            raise self.errors[name]


def seen(spec: Manifest, *engines: EngineListener, **status: Any) -> TLSSituation:
    instance = an_instance(status={**a_ready_status(), **status}, **spec)
    now = instance.status.conditions[0].last_transition_time
    found = Listeners(engines=engines)
    return TLSSituation(instance=instance, now=now, gateway=GatewaySeen(), listeners=found, issued=EVERYTHING)


async def run(
    observer: Observer, certificates: Certificates | None = None, *, is_first_look: bool = False
) -> TLSOutcome:
    observer.certificates.discovered.set()
    step = TLSStep(cast("Any", observer), cast("Any", certificates or Certificates()))
    situation = observer.known
    return await step.run(situation.instance, situation.gateway, Configs(), is_first_look=is_first_look)


PLAINTEXT = EngineListener(name="eng", tls_hash="")


async def test_whoever_never_asked_for_tls_costs_nothing() -> None:
    observer = Observer(seen({}), seen({}))
    outcome = await run(observer)
    assert (outcome.plan.engine_verdict.reason, outcome.plan.gateway_verdict.reason) == ("Disabled", "Disabled")
    assert (observer.looks, observer.watches.forgotten) == ([], ["inst"])


async def test_a_change_of_how_engines_are_spoken_to_is_decided_on_a_live_look() -> None:
    spec = tls.engine(**tls.issued())
    observer = Observer(known=seen(spec), live=seen(spec, PLAINTEXT))
    outcome = await run(observer)
    assert observer.looks == [False, True]
    assert outcome.plan.engine_status is not None
    assert not outcome.plan.engine_status.reencrypting
    rested = Observer(known=seen(spec, engineTLS=REENCRYPTING), live=seen(spec))
    await run(rested)
    assert rested.looks == [False]
    first = Observer(known=seen(spec), live=seen(spec, PLAINTEXT))
    await run(first, is_first_look=True)
    assert first.looks == [True]


async def test_certificates_are_asked_for_whatever_else_is_waited_for() -> None:
    certificates = Certificates()
    await run(Observer(seen(BOTH), seen(BOTH)), certificates)
    assert certificates.asked == ["inst-engine-tls", "inst-gateway-tls"]
    missing = replace(seen(BOTH), has_cert_manager=False)
    certificates = Certificates()
    await run(Observer(missing, missing), certificates)
    assert certificates.asked == []


@pytest.mark.parametrize("failing", ["inst-engine-tls", "inst-gateway-tls"])
async def test_one_that_cannot_be_asked_for_keeps_no_other_from_being(failing: str) -> None:
    certificates = Certificates({failing: RejectedError("not yours", status=403)})
    situation = seen(BOTH, engineTLS=REENCRYPTING)
    outcome = await run(Observer(situation, situation), certificates)
    assert certificates.asked == ["inst-engine-tls", "inst-gateway-tls"]
    assert isinstance(outcome.error, RejectedError)
    assert outcome.plan.engine_status == situation.instance.status.engine_tls
    if failing == "inst-engine-tls":
        told = outcome.plan.engine_verdict
        assert (told.status, told.reason, told.message) == ("False", "CertificateEnsureFailed", "not yours")
    else:
        assert outcome.plan.engine_verdict.status == "True"


async def test_what_cannot_be_read_leaves_all_as_it_is() -> None:
    situation = seen(BOTH, engineTLS=REENCRYPTING)
    outcome = await run(Observer(situation, situation, error=TransientError("away")))
    assert outcome.plan.holds_gateway
    assert isinstance(outcome.error, TransientError)


async def test_a_process_that_lost_its_lease_does_nothing_more() -> None:
    situation = seen(BOTH)
    with pytest.raises(FencedError):
        await run(Observer(situation, situation, error=FencedError("lost")))
    with pytest.raises(FencedError):
        await run(Observer(situation, situation), Certificates({"inst-engine-tls": FencedError("lost")}))
