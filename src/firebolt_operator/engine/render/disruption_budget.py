"""How many pods of the generations that serve may node drains take at a time?"""

from collections.abc import Collection

from firebolt_operator.api import names
from firebolt_operator.api.labels import engine_labels
from firebolt_operator.api.resources import POD_DISRUPTION_BUDGETS
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.manifests.owners import child_metadata
from firebolt_operator.refs import Manifest


def disruption_budget(inputs: EngineInputs, generations: Collection[int], most: int | str) -> Manifest:
    """It outlives generations, as the Service does: no label names one."""
    labels = engine_labels(inputs.name)
    selected = [str(generation) for generation in sorted(generations)]
    return {
        "apiVersion": POD_DISRUPTION_BUDGETS.api_version,
        "kind": POD_DISRUPTION_BUDGETS.kind,
        "metadata": child_metadata(inputs.owner, names.disruption_budget_name(inputs.name), labels),
        "spec": {
            "maxUnavailable": most,
            # Pods that do not serve keep no node from being drained.
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {
                "matchLabels": labels,
                "matchExpressions": [{"key": names.LABEL_GENERATION, "operator": "In", "values": selected}],
            },
        },
    }
