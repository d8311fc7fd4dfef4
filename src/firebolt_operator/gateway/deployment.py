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
        "metadata": component_metadata(instance, names.gateway_name(instance.metadata.name), names.COMPONENT_GATEWAY),
        "spec": {
            "replicas": DEFAULT_REPLICAS if replicas is None else replicas,
            "selector": {"matchLabels": component_labels(instance.metadata.name, names.COMPONENT_GATEWAY)},
            # Full capacity at all times: a new pod is ready before an old one goes.
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": "25%"}},
            "template": _pod_template(inputs, config_hash),
        },
    }


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
