"""Which content hashes does a StatefulSet carry, so that inputs it does not show still count as drift?"""

import hashlib
from typing import Any, Final

import msgspec

from firebolt_operator.api import names
from firebolt_operator.engine.engine_config import merged_custom_config
from firebolt_operator.engine.inputs import ClassInfo, EngineInputs

HASH_LENGTH: Final = 16


def content_hash(text: str | bytes) -> str:
    content = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(content).hexdigest()[:HASH_LENGTH]


def canonical_json(value: Any) -> bytes:
    """Equal values, equal bytes: the order of keys and the white space of the source do not matter."""
    return msgspec.json.encode(value, order="sorted")


def engine_class_hash(engine_class: ClassInfo | None) -> str:
    """Over the whole template: an edit of the class rolls every engine of it, even one that overrides the field."""
    return content_hash(canonical_json(engine_class.spec.template)) if engine_class else ""


def custom_config_hash(inputs: EngineInputs) -> str:
    """Over what is left after the operator's own paths are removed; nothing left means no hash."""
    config = merged_custom_config(inputs.spec, inputs.engine_class)
    return content_hash(canonical_json(config)) if config else ""


def hash_annotations(inputs: EngineInputs) -> dict[str, str]:
    """What the StatefulSet's own metadata carries; an empty value is left out."""
    annotations = {
        names.ANNOTATION_METADATA_OVERRIDE: inputs.spec.metadata_endpoint_override or "",
        names.ANNOTATION_CUSTOM_CONFIG_HASH: custom_config_hash(inputs),
        names.ANNOTATION_ENGINE_CLASS_HASH: engine_class_hash(inputs.engine_class),
        **inputs.instance.hash_annotations,
    }
    return {name: value for name, value in annotations.items() if value}
