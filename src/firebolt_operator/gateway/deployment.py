"""Which pods does the gateway run as, and how do they roll?"""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.labels import component_labels
from firebolt_operator.api.resources import DEPLOYMENTS
from firebolt_operator.gateway.envoy_container import envoy_container, envoy_volumes
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.gateway.wake_agent import token_volume, wake_agent_container
from firebolt_operator.manifests.components import (
    ComponentPod,
    component_metadata,
    merged_component_pod,
    primary_container,
    user_pod_spec,
)
from firebolt_operator.policy.component_rules import GATEWAY
from firebolt_operator.policy.protected_secrets import keeps_volume, protected_secret_names
from firebolt_operator.refs import Manifest

DEFAULT_REPLICAS: Final = 2


def gateway_deployment(inputs: GatewayInputs, config_hash: str) -> Manifest:
    instance = inputs.instance
    replicas = instance.spec.gateway.replicas
    return {
        "apiVersion": DEPLOYMENTS.api_version,
        "kind": DEPLOYMENTS.kind,
        "metadata": _metadata(inputs),
        "spec": {
            "replicas": DEFAULT_REPLICAS if replicas is None else replicas,
            "selector": {"matchLabels": component_labels(instance.metadata.name, names.COMPONENT_GATEWAY)},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": _pace(inputs)},
            "template": _pod_template(inputs, config_hash),
        },
    }


def _metadata(inputs: GatewayInputs) -> Manifest:
    name, revisions = names.gateway_name(inputs.instance.metadata.name), inputs.tls.revisions
    metadata = component_metadata(inputs.instance, name, names.COMPONENT_GATEWAY)
    if not revisions:
        return metadata
    # What pods were given last: a Secret that is lost, or spoilt, must not start a rollout that cannot end.
    return {**metadata, "annotations": {names.ANNOTATION_TLS_REVISIONS: ",".join(revisions)}}


def _pace(inputs: GatewayInputs) -> Manifest:
    if inputs.tls.is_closed:
        # All at once: until the last of the old pods goes, it lets in whom the new ones refuse.
        return {"maxUnavailable": "100%", "maxSurge": 0}
    # Full capacity at all times: a new pod is ready before an old one goes.
    return {"maxUnavailable": 0, "maxSurge": "25%"}


def _pod_template(inputs: GatewayInputs, config_hash: str) -> Manifest:
    envoy = envoy_container(inputs)
    users_envoy = primary_container(inputs.template, GATEWAY.primary, envoy)
    wakes = inputs.wakes_engines
    pod = ComponentPod(
        primary=GATEWAY.primary,
        labels=component_labels(inputs.instance.metadata.name, names.COMPONENT_GATEWAY),
        annotations={names.ANNOTATION_CONFIG_HASH: config_hash},
        container=envoy,
        volumes=[*envoy_volumes(inputs), *([token_volume()] if wakes else [])],
        sidecars=[wake_agent_container(inputs, users_envoy)] if wakes else [],
        fields={
            **_identity(inputs),
            # Service variables could shadow settings; nothing here reads them.
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": inputs.times.drain_seconds,
        },
        keeps_volume=keeps_volume(GATEWAY, protected_secret_names(inputs.instance)),
    )
    return merged_component_pod(inputs.template, pod)


def _identity(inputs: GatewayInputs) -> Manifest:
    """No token for Envoy, which faces clients; whoever brings an account may still ask for it in so many words."""
    if inputs.custom_service_account:
        wish = user_pod_spec(inputs.template).get("automountServiceAccountToken")
        return {"automountServiceAccountToken": wish is True}
    account = names.gateway_name(inputs.instance.metadata.name)
    return {"serviceAccountName": account, "automountServiceAccountToken": False}
