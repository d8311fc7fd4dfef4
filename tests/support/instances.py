"""Instances, facts and situations for tests; what a test does not care about is filled in."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.conditions import Condition, find_condition
from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.auth.decide.outcome import AuthOutcome, carried_out
from firebolt_operator.auth.decide.provisioning import decide_auth
from firebolt_operator.auth.facts import AuthSituation, Fleet
from firebolt_operator.instance.decide.components import Situation
from firebolt_operator.instance.facts import READY, CredentialsSeen, InstanceFacts, Readiness, Volume
from firebolt_operator.instance.plan import InstancePlan
from firebolt_operator.instance.render.renderer import InstanceImages, MemoisedRenderers
from firebolt_operator.instance.views import SecretView
from firebolt_operator.manifests.live_objects import LiveObject
from firebolt_operator.policy.auth_checks import check_auth
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.secret_references import ours
from firebolt_operator.policy.tls_checks import check_tls
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.tls.decide.instance_tls import decide_tls
from firebolt_operator.tls.facts import GatewaySeen, TLSSituation
from firebolt_operator.tls.plan import TLSOutcome

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
EARLIER = datetime(2026, 5, 1, 9, tzinfo=UTC)
ID = "01J00000000000000000000000"
IMAGES = InstanceImages(
    metadata_service="metadata:1.0", postgres="postgres:16-alpine", gateway="envoy:v1", wake_agent="op:1"
)
BLUEPRINTS = MemoisedRenderers(IMAGES)
PASSWORD = "0123456789abcdef01234567"
EXTERNAL: Manifest = {"host": "db.example", "database": "meta", "credentialsSecretRef": {"name": "db-login"}}


def an_instance(
    *, meta: Manifest | None = None, status: Manifest | InstanceStatus | None = None, **spec: Any
) -> FireboltInstance:
    document = {
        "metadata": {
            "name": "inst",
            "namespace": "ns",
            "uid": "uid-1",
            "generation": 3,
            "finalizers": [names.FINALIZER_INSTANCE],
            **(meta or {}),
        },
        "spec": {"id": ID, "metadata": {}, "gateway": {}, **spec},
    }
    given = status if isinstance(status, InstanceStatus) else msgspec.convert(status or {}, InstanceStatus)
    return msgspec.structs.replace(msgspec.convert(document, FireboltInstance), status=given)


def a_secret(**changes: Any) -> SecretView:
    fields: dict[str, Any] = {
        "metadata": ObjectMeta(name="inst-metadata-postgres-creds", namespace="ns"),
        "type": "Opaque",
        "filled": frozenset({"username", "password", "database"}),
        "username": "firebolt",
        "database": "firebolt_metadata",
        **changes,
    }
    return SecretView(**fields)


def some_facts(
    *,
    credentials: CredentialsSeen | None = None,
    metadata_service: Readiness = READY,
    gateway: Readiness = READY,
    live: Mapping[Ref, LiveObject] | None = None,
    volume: Volume = Volume.ABSENT,
) -> InstanceFacts:
    return InstanceFacts(
        credentials=credentials or a_secret(),
        metadata_service=metadata_service,
        gateway=gateway,
        live=live or {},
        volume=volume,
    )


def a_situation(
    instance: FireboltInstance | None = None, facts: InstanceFacts | None = None, *, now: datetime = NOON
) -> Situation:
    chosen = instance or an_instance(status={"phase": "Provisioning"})
    return Situation(
        instance=chosen,
        facts=facts or some_facts(),
        blueprint=BLUEPRINTS.of(chosen),
        new_password=PASSWORD,
        now=now,
        auth=auth_of(chosen, now),
        tls=tls_of(chosen, now),
    )


def auth_of(instance: FireboltInstance, now: datetime = NOON, **facts: Any) -> AuthOutcome:
    """What is decided about its authentication; nothing was issued, and there are no engines."""
    described: dict[str, Any] = {
        "spec": instance.spec.auth,
        "spec_problem": aggregate(check_auth(instance.spec.auth, ours(instance))),
        "status": instance.status.auth,
        "fleet": Fleet(),
        **facts,
    }
    return carried_out(decide_auth(AuthSituation(instance=instance.metadata.name, now=now, **described)))


def tls_of(instance: FireboltInstance, now: datetime = NOON, **facts: Any) -> TLSOutcome:
    """What is decided about its TLS; nothing was issued, there are no engines, and no gateway."""
    described: dict[str, Any] = {
        "gateway": GatewaySeen(),
        "spec_problem": aggregate(check_tls(instance)),
        **facts,
    }
    situation = TLSSituation(instance=instance, now=now, **described)
    return TLSOutcome(plan=decide_tls(situation, BLUEPRINTS.of(instance)))


def a_condition(kind: str, status: str, reason: str = "Ready", message: str = "as before") -> Manifest:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": EARLIER.isoformat(),
        "observedGeneration": 2,
    }


def a_ready_status(**changes: Any) -> Manifest:
    """Of an instance that was at rest."""
    kinds = (
        names.CONDITION_AUTH_READY,
        names.CONDITION_ENGINE_TLS_READY,
        names.CONDITION_GATEWAY_TLS_READY,
        names.CONDITION_METADATA_READY,
        names.CONDITION_GATEWAY_READY,
        names.CONDITION_READY,
    )
    return {
        "phase": "Ready",
        "instanceID": ID,
        "metadataReady": True,
        "gatewayReady": True,
        "metadataEndpoint": "inst-metadata.ns.svc.cluster.local:7000",
        "gatewayEndpoint": "inst-gateway.ns.svc.cluster.local",
        "conditions": [a_condition(kind, "True") for kind in kinds],
        **changes,
    }


def said(status: InstanceStatus, kind: str) -> tuple[str, str, str] | None:
    """What a condition says, without its dates."""
    found = find_condition(status.conditions, kind)
    return None if found is None else (found.status, found.reason, found.message)


def condition(status: InstanceStatus, kind: str) -> Condition:
    found = find_condition(status.conditions, kind)
    assert found is not None
    return found


def written(plan: InstancePlan) -> list[str]:
    """The plan's writes in order, in words."""
    return [f"{step.doing}: {type(step.write).__name__} {step.write.manifest['kind']}" for step in plan.steps]
