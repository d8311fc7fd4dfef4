"""Where do clients reach the gateway, and how much of it may be away at a time?"""

from firebolt_operator.api import names
from firebolt_operator.api.labels import component_labels
from firebolt_operator.api.resources import POD_DISRUPTION_BUDGETS, SERVICES
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.manifests.components import component_metadata
from firebolt_operator.refs import Manifest


def gateway_service(inputs: GatewayInputs) -> Manifest:
    instance = inputs.instance
    return {
        "apiVersion": SERVICES.api_version,
        "kind": SERVICES.kind,
        "metadata": component_metadata(instance, names.gateway_name(instance.metadata.name), names.COMPONENT_GATEWAY),
        "spec": {
            "type": "ClusterIP",
            "selector": component_labels(instance.metadata.name, names.COMPONENT_GATEWAY),
            "ports": [{"name": "http", "port": 80, "targetPort": names.PORT_GATEWAY, "protocol": "TCP"}],
        },
    }


def gateway_disruption_budget(inputs: GatewayInputs) -> Manifest:
    instance = inputs.instance
    return {
        "apiVersion": POD_DISRUPTION_BUDGETS.api_version,
        "kind": POD_DISRUPTION_BUDGETS.kind,
        "metadata": component_metadata(instance, names.gateway_name(instance.metadata.name), names.COMPONENT_GATEWAY),
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": component_labels(instance.metadata.name, names.COMPONENT_GATEWAY)},
        },
    }
