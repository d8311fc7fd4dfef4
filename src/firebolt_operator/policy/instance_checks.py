"""What is wrong with an instance? The same functions answer for admission and for the controller."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.gateway_times import DRAIN_RANGE, HOLD_RANGE, Range, parse_within
from firebolt_operator.api.instance import FireboltInstance, InstanceSpec
from firebolt_operator.api.names import InstanceReason
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.policy import component_rules
from firebolt_operator.policy.auth_checks import check_auth, check_auth_update
from firebolt_operator.policy.component_rules import ComponentRules
from firebolt_operator.policy.field_errors import FieldError, Path, invalid, required
from firebolt_operator.policy.owned_fields import check_owned_fields
from firebolt_operator.policy.postgres_storage import check_postgres_storage
from firebolt_operator.policy.postgres_tls import check_postgres_tls
from firebolt_operator.policy.protected_secrets import is_protected, protected_secret_names
from firebolt_operator.policy.secret_aliases import check_environment_secrets, check_volume_secrets
from firebolt_operator.policy.secret_references import check_database_login, ours
from firebolt_operator.policy.template_size import check_size, manageable
from firebolt_operator.policy.tls_checks import check_tls, check_tls_update
from firebolt_operator.refs import Manifest

METADATA: Final = Path("spec").child("metadata")
GATEWAY: Final = Path("spec").child("gateway")
NOT_XML: Final = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
GATEWAY_PORTS: Final = {
    names.PORT_GATEWAY: "the gateway's client listener",
    names.PORT_ENVOY_ADMIN: "Envoy's admin interface",
    names.PORT_WAKE_HOLD: "the wake agent's hold endpoint",
    names.PORT_WAKE_METRICS: "the wake agent's metrics",
}


@dataclass(frozen=True, slots=True)
class RejectedComponent:
    condition: str  # the condition type that reports it
    errors: list[FieldError]

    @property
    def reason(self) -> InstanceReason:
        is_template = any(".template" in error.path.text for error in self.errors)
        return InstanceReason.TEMPLATE_REJECTED if is_template else InstanceReason.SPEC_INVALID


def check_instance(instance: FireboltInstance, operator_account: str = "") -> list[FieldError]:
    """All that admission refuses, at once, and nothing less than what the controller would refuse to render."""
    return [
        *check_metadata_replicas(instance.spec),
        *check_metadata_component(instance),
        *check_gateway_component(instance, operator_account),
        *check_postgres_reference(instance.spec),
        *check_writable(instance.spec),
        *check_auth(instance.spec.auth, ours(instance)),
        *check_tls(instance),
    ]


def check_instance_update(old: InstanceSpec, new: InstanceSpec) -> list[FieldError]:
    """What may be written once only."""
    return [*check_auth_update(old.auth, new.auth), *check_tls_update(old.tls, new.tls)]


def rejected_component(instance: FireboltInstance, operator_account: str = "") -> RejectedComponent | None:
    """What keeps the controller from rendering: the first component that fails, metadata before gateway.

    The operator's account is given as NAMESPACE/NAME; empty when nobody said.
    """
    for condition, errors in (
        (names.CONDITION_METADATA_READY, check_metadata_component(instance)),
        (names.CONDITION_GATEWAY_READY, check_gateway_component(instance, operator_account)),
    ):
        if errors:
            return RejectedComponent(condition, errors)
    return None


def check_metadata_component(instance: FireboltInstance) -> list[FieldError]:
    template = manageable(instance.spec.metadata.template)
    return [
        *check_metadata_template(instance.spec),
        *_secret_errors(instance, template, METADATA.child("template"), component_rules.METADATA),
        *check_postgres_storage(instance.spec.metadata.postgres_storage, METADATA.child("postgresStorage")),
        *check_database_login(instance),
        *check_postgres_tls(instance),
    ]


def check_gateway_component(instance: FireboltInstance, operator_account: str = "") -> list[FieldError]:
    template = manageable(instance.spec.gateway.template)
    return [
        *check_gateway_template(instance.spec),
        *_secret_errors(instance, template, GATEWAY.child("template"), component_rules.GATEWAY),
        *check_metrics_port(instance.spec),
        *check_gateway_times(instance.spec),
        *check_gateway_account(instance, operator_account),
    ]


def check_gateway_account(instance: FireboltInstance, operator_account: str) -> list[FieldError]:
    """A gateway faces clients; whoever takes one over would have all of the operator's rights."""
    metadata = instance.metadata
    custom = mapping(mapping(instance.spec.gateway.template).get("spec")).get("serviceAccountName")
    account = custom or names.gateway_name(metadata.name)
    if f"{metadata.namespace}/{account}" != operator_account:
        return []
    path = GATEWAY.child("template", "spec", "serviceAccountName")
    return [invalid(path, account, "is the operator's own account; name one that a gateway alone uses")]


def check_metadata_replicas(spec: InstanceSpec) -> list[FieldError]:
    replicas = spec.metadata.replicas
    if replicas in (None, 1):
        return []
    detail = "metadata replicas must be 1; two metadata services must never write to one database"
    return [invalid(METADATA.child("replicas"), replicas, detail)]


def check_metadata_template(spec: InstanceSpec) -> list[FieldError]:
    return _template_errors(spec.metadata.template, METADATA.child("template"), component_rules.METADATA)


def check_gateway_template(spec: InstanceSpec) -> list[FieldError]:
    return _template_errors(spec.gateway.template, GATEWAY.child("template"), component_rules.GATEWAY)


def _template_errors(template: Manifest | None, base: Path, rules: ComponentRules) -> list[FieldError]:
    return check_size(template, base) or check_owned_fields(template, base, rules)


def check_metrics_port(spec: InstanceSpec) -> list[FieldError]:
    """All containers of a pod share its ports, and the metrics port is the only one a user chooses."""
    port = spec.gateway.metrics_port
    if port not in GATEWAY_PORTS:
        return []
    return [invalid(GATEWAY.child("metricsPort"), port, f"is the port of {GATEWAY_PORTS[port]}; pick a different one")]


def check_gateway_times(spec: InstanceSpec) -> list[FieldError]:
    gateway = spec.gateway
    return [
        *_duration_errors("holdTimeout", gateway.hold_timeout, HOLD_RANGE),
        *_duration_errors("drainTimeout", gateway.drain_timeout, DRAIN_RANGE),
    ]


def _duration_errors(field: str, text: str, allowed: Range) -> list[FieldError]:
    try:
        parse_within(text, allowed)
    except ValueError as err:
        return [invalid(GATEWAY.child(field), text, str(err))]
    return []


def check_writable(spec: InstanceSpec) -> list[FieldError]:
    """XML has no way to say most control characters."""
    if spec.metadata.config_format == "YAML":
        return []
    postgres = spec.metadata.postgres
    path = METADATA.child("postgres")
    written = [(Path("spec").child("id"), spec.id)]
    if postgres is not None:
        written += [(path.child("host"), postgres.host), (path.child("database"), postgres.database)]
        written += [(path.child("schema"), postgres.schema)]
    return [
        invalid(field, value, "contains a character that XML cannot express")
        for field, value in written
        if NOT_XML.search(value)
    ]


def check_postgres_reference(spec: InstanceSpec) -> list[FieldError]:
    postgres = spec.metadata.postgres
    if postgres is None or postgres.credentials_secret_ref.name:
        return []
    path = METADATA.child("postgres", "credentialsSecretRef", "name")
    return [
        required(
            path,
            "must be set when spec.metadata.postgres is configured; name the Secret with the keys username and password"
            " of the PostgreSQL server",
        )
    ]


def _secret_errors(
    instance: FireboltInstance, template: Manifest | None, base: Path, rules: ComponentRules
) -> list[FieldError]:
    guarded = partial(is_protected, protected=protected_secret_names(instance))
    return [
        *check_volume_secrets(template, base, rules.component, guarded),
        *check_environment_secrets(template, base, rules.component, guarded),
    ]
