"""Which objects are an instance's own, may be written by it, and go when it goes?

Neither name nor label proves anything: a user's object that has ours survives everything we do.
"""

import re
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.labels import component_labels
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import (
    CERTIFICATES,
    CONFIG_MAPS,
    DEPLOYMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.instance.decide.retention import is_left_of
from firebolt_operator.refs import Resource

SWEPT: Final = (
    STATEFULSETS,
    DEPLOYMENTS,
    SERVICES,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    CONFIG_MAPS,
    CERTIFICATES,
    SECRETS,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
)
"""In this order: workloads first, so that nothing starts pods on what goes next; rights before what limits them;
Certificates before their Secrets, which cert-manager would make again.
"""


def label_selector(instance: FireboltInstance) -> str:
    return f"{names.LABEL_INSTANCE}={instance.metadata.name}"


def is_own(instance: FireboltInstance, resource: Resource, found: ObjectMeta) -> bool:
    if resource == PERSISTENT_VOLUME_CLAIMS:
        return is_database_claim(instance, found)
    if resource == SECRETS and (is_left_of(instance, found) or is_issued_secret(instance, found)):
        return True
    return bool(instance.metadata.uid) and any(owner.uid == instance.metadata.uid for owner in found.owner_references)


def is_issued_secret(instance: FireboltInstance, found: ObjectMeta) -> bool:
    """What cert-manager writes has no owner: its name, its labels and whom it was issued for tell, all together."""
    name = instance.metadata.name
    patterns = {
        names.COMPONENT_AUTH_SIGNING: rf"{re.escape(names.signing_key_name(name, 1))}(-signing-[0-9]+)?",
        names.COMPONENT_ENGINE_TLS: re.escape(names.engine_tls_anchor_name(name)),
        names.COMPONENT_GATEWAY_TLS: re.escape(names.gateway_tls_name(name)),
    }
    component = found.labels.get(names.LABEL_COMPONENT, "")
    is_named = component in patterns and re.fullmatch(patterns[component], found.name) is not None
    issued_for = found.annotations.get(names.ANNOTATION_CERTIFICATE_NAME)
    return is_named and issued_for == found.name and component_labels(name, component).items() <= found.labels.items()


def is_database_claim(instance: FireboltInstance, found: ObjectMeta) -> bool:
    """A StatefulSet's claims have no owner, so that they outlive it; its name and labels on them tell."""
    labels = {names.LABEL_INSTANCE: instance.metadata.name, names.LABEL_COMPONENT: names.COMPONENT_POSTGRES}
    has_labels = labels.items() <= found.labels.items()
    pattern = rf"data-{re.escape(names.postgres_name(instance.metadata.name))}-[0-9]+"
    return has_labels and re.fullmatch(pattern, found.name) is not None
