"""Where does an engine's configuration file come from? A ConfigMap per generation."""

import json

from firebolt_operator.api import names
from firebolt_operator.api.labels import generation_labels
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.render.engine_config import CONFIG_KEY, engine_config
from firebolt_operator.manifests.owners import child_metadata
from firebolt_operator.refs import Manifest


def engine_config_map(inputs: EngineInputs, generation: int) -> Manifest:
    # JSON is YAML: one well-defined writer, and sorted keys make two renderings comparable.
    content = json.dumps(engine_config(inputs, generation), indent=2, sort_keys=True, ensure_ascii=False)
    labels = generation_labels(inputs.name, generation)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": child_metadata(inputs.owner, names.config_map_name(inputs.name, generation), labels),
        "data": {CONFIG_KEY: f"{content}\n"},
    }
