"""What a hostile tenant may put into a cluster, and where the operator has to name it."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from firebolt_operator.api.names import (
    ANNOTATION_WAKE_REQUESTED,
    LABEL_ENGINE,
    LABEL_INSTANCE,
    engine_service_name,
    gateway_name,
    metadata_credentials_name,
)
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    POD_DISRUPTION_BUDGETS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.api.instance.test_lifecycle import THEIRS
from tests.support.deep import indented_at_length, with_depth, with_managed_fields

INSTANCE: Final = "inst"
"""Of the tenant's own, and in order: some traps only spring on an engine that could run."""
OPERATOR_ACCOUNT: Final = "operator"
DIGITS: Final = "1" * 30_000 + "s"
MOST: Final = 2**31 - 1
BEFORE_ALL_TIME: Final = "0001-01-01T00:00:00+23:59"
UNREADABLE: Final = "Unreadable"
SET_ASIDE: Final = "object set aside"
LABELLED: Final[Mapping[Resource, str]] = {
    CONFIG_MAPS: LABEL_ENGINE,
    SERVICES: LABEL_ENGINE,
    STATEFULSETS: LABEL_ENGINE,
    SECRETS: LABEL_INSTANCE,
    ROLES: LABEL_INSTANCE,
    ROLE_BINDINGS: LABEL_INSTANCE,
    SERVICE_ACCOUNTS: LABEL_INSTANCE,
    DEPLOYMENTS: LABEL_INSTANCE,
    POD_DISRUPTION_BUDGETS: LABEL_INSTANCE,
}
IN_THE_WAY: Final = (
    (CONFIG_MAPS, "-gateway-accounts"),
    (CONFIG_MAPS, "-metadata-config"),
    (DEPLOYMENTS, "-metadata"),
    (SERVICE_ACCOUNTS, "-gateway"),
    (ROLES, "-gateway"),
    (ROLE_BINDINGS, "-gateway"),
)


class Teller(StrEnum):
    """Where a bad object is named."""

    EVENT = "event"
    CONDITION = "condition"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class Told:
    """`words` are part of a condition's reason and message, of an event's reason and note, or of a record."""

    ref: Ref
    teller: Teller
    words: str

    @property
    def is_unreadable(self) -> bool:
        return self.words in {UNREADABLE, SET_ASIDE}


@dataclass(frozen=True, slots=True)
class Trap:
    """Some objects, made in this order, and what must be said about them."""

    told: Told
    bodies: list[tuple[Resource, bytes]]


Spring = Callable[[str, str], Trap]
"""From a namespace and a name."""


@dataclass(frozen=True, slots=True)
class Sort:
    name: str
    spring: Spring
    is_from_before: bool = field(default=False, kw_only=True)  # today's definitions would refuse it


def manifest(resource: Resource, namespace: str, name: str, **fields: Any) -> Manifest:
    metadata = {"name": name, "namespace": namespace, **fields.pop("metadata", {})}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **fields}


def sorts() -> Iterator[Sort]:
    yield from _engines()
    yield from _old_engines()
    yield from _classes()
    yield from _instances()
    for resource in LABELLED:
        yield Sort(f"deep-{resource.kind.lower()}", _deep_child(resource))
    for resource, suffix in IN_THE_WAY:
        yield Sort(f"foreign-{resource.kind.lower()}{suffix}", _foreign_child(resource, suffix))


def _engines() -> Iterator[Sort]:
    yield Sort("deep-engine", _deep_engine)
    yield Sort("deep-engine-fields", _deep_engine_fields)
    yield Sort("soon", _engine(Teller.CONDITION, "SpecInvalid spec.drainCheckInterval", drainCheckInterval="soon"))
    yield Sort("nowhere", _engine(Teller.EVENT, "UnknownTimeZone", autoStop=_auto_stop(timeZone="Mars/Olympus")))
    yield Sort("classless", _engine(Teller.EVENT, "EngineClassMissing", engineClassRef="none"))
    yield Sort("reader", _engine(Teller.CONDITION, "TemplateRejected", template=_sidecar(envFrom=_CREDENTIALS)))
    yield Sort("mounter", _engine(Teller.EVENT, "SecretAliasVolumeDropped", template=_mount()))
    yield Sort("refused", _engine(Teller.CONDITION, "TemplateRejected", template=_sidecar(name="Not A Name")))
    yield Sort("owned", _engine(Teller.CONDITION, "TemplateRejected", template=_reserved_label()))
    lengthy = "TemplateRejected spec.customEngineConfig"
    yield Sort("lengthy", _engine(Teller.CONDITION, lengthy, customEngineConfig=indented_at_length()))
    yield Sort("early", _engine_woken(BEFORE_ALL_TIME))
    yield Sort("foreign-service", _foreign_service)


def _old_engines() -> Iterator[Sort]:
    invalid = "SpecInvalid spec."
    yield Sort(
        "digits",
        _engine(Teller.CONDITION, f"{invalid}drainCheckInterval", drainCheckInterval=DIGITS),
        is_from_before=True,
    )
    yield Sort("many", _engine(Teller.CONDITION, f"{invalid}replicas", replicas=MOST), is_from_before=True)
    yield Sort(
        "active",
        _engine(Teller.CONDITION, f"{invalid}autoStop.activeReplicas", autoStop=_auto_stop(activeReplicas=MOST)),
        is_from_before=True,
    )
    odd = {"spec": {"containers": "none", "volumes": 7, "nodeSelector": [1]}}
    yield Sort("odd", _engine(Teller.CONDITION, "TemplateRejected", template=odd), is_from_before=True)
    yield Sort("untyped", _engine(Teller.EVENT, UNREADABLE, rollout=7), is_from_before=True)


def _classes() -> Iterator[Sort]:
    yield Sort("deep-class", _deep_class)
    yield Sort("bad-class", _class("OperatorOwnedFieldSet", template=_reserved_label()))
    lengthy = {"template": {}, "customEngineConfig": indented_at_length()}
    yield Sort("lengthy-class", _class("OperatorOwnedFieldSet spec.customEngineConfig", **lengthy))
    yield Sort("soon-class", _class("SpecInvalid spec.drainTimeout", template={}, drainTimeout="soon"))


def _instances() -> Iterator[Sort]:
    yield Sort("deep-instance", _deep_instance)
    yield Sort("port", _instance("SpecInvalid spec.gateway.metricsPort", metricsPort=9901))
    yield Sort("times", _instance("SpecInvalid spec.gateway.holdTimeout", holdTimeout="9999h"))
    yield Sort("sidecar", _instance("TemplateRejected", template=_sidecar(envFrom=_CREDENTIALS)))


def operators_account(namespace: str, name: str) -> Trap:
    """To be made where the operator runs."""
    template = {"spec": {"serviceAccountName": OPERATOR_ACCOUNT}}
    return _instance("TemplateRejected spec.gateway.template.spec.serviceAccountName", template=template)(
        namespace, name
    )


def _engine(teller: Teller, words: str, **spec: Any) -> Spring:
    def spring(namespace: str, name: str) -> Trap:
        given = {"instanceRef": INSTANCE, "replicas": 0, **spec}
        body = json.dumps(manifest(FIREBOLT_ENGINES, namespace, name, spec=given)).encode()
        return Trap(Told(Ref(FIREBOLT_ENGINES, namespace, name), teller, words), [(FIREBOLT_ENGINES, body)])

    return spring


def _engine_woken(stamp: str) -> Spring:
    def spring(namespace: str, name: str) -> Trap:
        notes = {"annotations": {ANNOTATION_WAKE_REQUESTED: stamp}}
        spec = {"instanceRef": INSTANCE, "replicas": 0, "autoStop": _auto_stop()}
        body = json.dumps(manifest(FIREBOLT_ENGINES, namespace, name, metadata=notes, spec=spec)).encode()
        told = Told(Ref(FIREBOLT_ENGINES, namespace, name), Teller.LOG, "wake request ignored")
        return Trap(told, [(FIREBOLT_ENGINES, body)])

    return spring


def _deep_engine(namespace: str, name: str) -> Trap:
    given = manifest(FIREBOLT_ENGINES, namespace, name, spec={"instanceRef": INSTANCE, "replicas": 1})
    body = with_depth(given, "spec", "customEngineConfig")
    return Trap(Told(Ref(FIREBOLT_ENGINES, namespace, name), Teller.EVENT, UNREADABLE), [(FIREBOLT_ENGINES, body)])


def _deep_engine_fields(namespace: str, name: str) -> Trap:
    given = manifest(FIREBOLT_ENGINES, namespace, name, spec={"instanceRef": INSTANCE, "replicas": 1})
    body = with_managed_fields(given, FIREBOLT_ENGINES.api_version)
    return Trap(Told(Ref(FIREBOLT_ENGINES, namespace, name), Teller.EVENT, UNREADABLE), [(FIREBOLT_ENGINES, body)])


def _foreign_service(namespace: str, name: str) -> Trap:
    service = manifest(SERVICES, namespace, engine_service_name(name), **THEIRS[SERVICES])
    trap = _engine(Teller.CONDITION, f"EnsureFailed Service {engine_service_name(name)} was not made by")(
        namespace, name
    )
    return Trap(trap.told, [(SERVICES, json.dumps(service).encode()), *trap.bodies])


def _class(words: str, **spec: Any) -> Spring:
    def spring(namespace: str, name: str) -> Trap:
        body = json.dumps(manifest(FIREBOLT_ENGINE_CLASSES, namespace, name, spec=spec)).encode()
        ref = Ref(FIREBOLT_ENGINE_CLASSES, namespace, name)
        return Trap(Told(ref, Teller.CONDITION, words), [(FIREBOLT_ENGINE_CLASSES, body)])

    return spring


def _deep_class(namespace: str, name: str) -> Trap:
    given = manifest(FIREBOLT_ENGINE_CLASSES, namespace, name, spec={"template": {}})
    told = Told(Ref(FIREBOLT_ENGINE_CLASSES, namespace, name), Teller.LOG, SET_ASIDE)
    return Trap(told, [(FIREBOLT_ENGINE_CLASSES, with_depth(given, "spec", "customEngineConfig"))])


def _instance(words: str, **gateway: Any) -> Spring:
    def spring(namespace: str, name: str) -> Trap:
        spec = {"metadata": {}, "gateway": gateway}
        body = json.dumps(manifest(FIREBOLT_INSTANCES, namespace, name, spec=spec)).encode()
        told = Told(Ref(FIREBOLT_INSTANCES, namespace, name), Teller.CONDITION, words)
        return Trap(told, [(FIREBOLT_INSTANCES, body)])

    return spring


def _deep_instance(namespace: str, name: str) -> Trap:
    given = manifest(FIREBOLT_INSTANCES, namespace, name, spec={"metadata": {}, "gateway": {}})
    body = with_depth(given, "spec", "gateway", "template", "metadata", "labels")
    told = Told(Ref(FIREBOLT_INSTANCES, namespace, name), Teller.EVENT, UNREADABLE)
    return Trap(told, [(FIREBOLT_INSTANCES, body)])


def _deep_child(resource: Resource) -> Spring:
    def spring(namespace: str, name: str) -> Trap:
        labels = {"labels": {LABELLED[resource]: "nobody"}}
        given = manifest(resource, namespace, name, metadata=labels, **THEIRS[resource])
        told = Told(Ref(resource, namespace, name), Teller.LOG, SET_ASIDE)
        return Trap(told, [(resource, with_managed_fields(given, resource.api_version))])

    return spring


def _foreign_child(resource: Resource, suffix: str) -> Spring:
    def spring(namespace: str, name: str) -> Trap:
        theirs = json.dumps(manifest(resource, namespace, f"{name}{suffix}", **THEIRS[resource])).encode()
        trap = _instance(f"EnsureFailed {resource.kind} {namespace}/{name}{suffix} exists and has no owner")(
            namespace, name
        )
        return Trap(trap.told, [(resource, theirs), *trap.bodies])

    return spring


def _auto_stop(**fields: Any) -> Manifest:
    return {"enabled": True, "activeReplicas": 1, **fields}


_CREDENTIALS: Final = [{"secretRef": {"name": metadata_credentials_name("another")}}]


def _sidecar(**fields: Any) -> Manifest:
    return {"spec": {"containers": [{"name": "sidecar", "image": "sidecar:1", **fields}]}}


def _mount() -> Manifest:
    volume = {"name": "theirs", "secret": {"secretName": metadata_credentials_name("another")}}
    return {"spec": {"volumes": [volume]}}


def _reserved_label() -> Manifest:
    return {"metadata": {"labels": {LABEL_ENGINE: "another", "gateway": gateway_name("another")}}}
