"""Whose is a rendered object? Names its labels and the engine that controls it."""

from collections.abc import Mapping

from firebolt_operator.api import names
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.refs import Manifest


def engine_labels(engine: str) -> dict[str, str]:
    return {names.LABEL_ENGINE: engine}


def generation_labels(engine: str, generation: int) -> dict[str, str]:
    return {names.LABEL_ENGINE: engine, names.LABEL_GENERATION: str(generation)}


def child_metadata(inputs: EngineInputs, name: str, labels: Mapping[str, str]) -> Manifest:
    return {
        "name": name,
        "namespace": inputs.namespace,
        "labels": dict(labels),
        "ownerReferences": [
            {
                "apiVersion": FIREBOLT_ENGINES.api_version,
                "kind": FIREBOLT_ENGINES.kind,
                "name": inputs.name,
                "uid": inputs.uid,
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
