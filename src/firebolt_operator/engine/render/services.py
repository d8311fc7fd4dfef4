"""How do queries and peers find the pods? One Service per generation for peers, one per engine for queries."""

from firebolt_operator.api import names
from firebolt_operator.api.labels import engine_labels, generation_labels
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.manifests.owners import child_metadata
from firebolt_operator.refs import Manifest


def headless_service(inputs: EngineInputs, generation: int) -> Manifest:
    """Peers must resolve each other before they are ready, or the nodes could never form a cluster."""
    labels = generation_labels(inputs.name, generation)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": child_metadata(inputs.owner, names.headless_service_name(inputs.name, generation), labels),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": labels,
            "ports": _ports(),
        },
    }


def engine_service(inputs: EngineInputs, generation: int) -> Manifest:
    """Headless, so that a new selector swaps all addresses at once. It outlives generations: no label names one."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": child_metadata(inputs.owner, names.engine_service_name(inputs.name), engine_labels(inputs.name)),
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "None",
            "selector": generation_labels(inputs.name, generation),
            "ports": _ports(),
        },
    }


def _ports() -> list[Manifest]:
    return [
        {"name": "http-query", "port": names.PORT_QUERY, "targetPort": names.PORT_QUERY, "protocol": "TCP"},
        {
            "name": "health",
            "port": names.PORT_ENGINE_HEALTH,
            "targetPort": names.PORT_ENGINE_HEALTH,
            "protocol": "TCP",
        },
        {
            "name": "metrics",
            "port": names.PORT_ENGINE_METRICS,
            "targetPort": names.PORT_ENGINE_METRICS,
            "protocol": "TCP",
        },
    ]
