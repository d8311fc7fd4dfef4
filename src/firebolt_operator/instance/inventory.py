"""Which objects does an instance have, by name?"""

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    FIREBOLT_INSTANCES,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.instance.database_login import authority_in_use, credentials_in_use
from firebolt_operator.refs import Ref


def instance_ref(instance: FireboltInstance) -> Ref:
    return Ref(FIREBOLT_INSTANCES, instance.metadata.namespace, instance.metadata.name)


def metadata_deployment_ref(instance: FireboltInstance) -> Ref:
    return Ref(DEPLOYMENTS, instance.metadata.namespace, names.metadata_name(instance.metadata.name))


def gateway_deployment_ref(instance: FireboltInstance) -> Ref:
    return Ref(DEPLOYMENTS, instance.metadata.namespace, names.gateway_name(instance.metadata.name))


def credentials_ref(instance: FireboltInstance) -> Ref:
    return Ref(SECRETS, instance.metadata.namespace, credentials_in_use(instance))


def authority_ref(instance: FireboltInstance) -> Ref | None:
    """The Secret that an external database is verified with; None if there is none, or it has no name."""
    authority = authority_in_use(instance)
    return Ref(SECRETS, instance.metadata.namespace, authority.name) if authority and authority.name else None


def internal_credentials_ref(instance: FireboltInstance) -> Ref:
    return Ref(SECRETS, instance.metadata.namespace, names.metadata_credentials_name(instance.metadata.name))


def database_ref(instance: FireboltInstance) -> Ref:
    return Ref(STATEFULSETS, instance.metadata.namespace, names.postgres_name(instance.metadata.name))


def database_claim_ref(instance: FireboltInstance) -> Ref:
    claim = names.postgres_claim_name(instance.metadata.name)
    return Ref(PERSISTENT_VOLUME_CLAIMS, instance.metadata.namespace, claim)


def bundle_ref(instance: FireboltInstance) -> Ref:
    return Ref(SECRETS, instance.metadata.namespace, names.engine_ca_bundle_name(instance.metadata.name))


def applied_refs(instance: FireboltInstance) -> tuple[Ref, ...]:
    """Everything that is applied, whatever the spec asks for."""
    name, namespace = instance.metadata.name, instance.metadata.namespace
    gateway = names.gateway_name(name)
    return (
        metadata_deployment_ref(instance),
        gateway_deployment_ref(instance),
        database_ref(instance),
        Ref(SERVICES, namespace, names.postgres_name(name)),
        Ref(CONFIG_MAPS, namespace, names.metadata_config_name(name)),
        Ref(SERVICES, namespace, names.metadata_name(name)),
        Ref(CONFIG_MAPS, namespace, names.gateway_accounts_name(name)),
        Ref(CONFIG_MAPS, namespace, names.gateway_config_name(name)),
        Ref(SERVICES, namespace, gateway),
        Ref(POD_DISRUPTION_BUDGETS, namespace, gateway),
        Ref(SERVICE_ACCOUNTS, namespace, gateway),
        Ref(ROLES, namespace, gateway),
        Ref(ROLE_BINDINGS, namespace, gateway),
        *([bundle_ref(instance)] if instance.status.engine_tls is not None else []),
    )
