"""What does a generation's StatefulSet look like?"""

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.labels import generation_labels
from firebolt_operator.engine.blueprint import UPDATE_STRATEGY
from firebolt_operator.engine.inherited_settings import effective_ui_sidecar
from firebolt_operator.engine.inputs import ClassInfo, EngineInputs, PresetInfo
from firebolt_operator.engine.render.containers import engine_container, ui_sidecar
from firebolt_operator.engine.render.engine_config import GRACE_PERIOD_SECONDS, merged_custom_config
from firebolt_operator.engine.render.template import TOKEN_FIELD, EffectiveTemplate, effective_template
from firebolt_operator.engine.render.volumes import claim_templates, pod_volumes
from firebolt_operator.manifests.api_defaults import without_absent
from firebolt_operator.manifests.hashes import canonical_json, content_hash
from firebolt_operator.manifests.owners import child_metadata
from firebolt_operator.refs import Manifest


def engine_statefulset(inputs: EngineInputs, generation: int) -> Manifest:
    name = names.statefulset_name(inputs.name, generation)
    labels = generation_labels(inputs.name, generation)
    claims = claim_templates(inputs, generation)
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": child_metadata(inputs.owner, name, labels) | _optional("annotations", hash_annotations(inputs)),
        "spec": {
            "serviceName": names.headless_service_name(inputs.name, generation),
            "replicas": inputs.spec.replicas,
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": UPDATE_STRATEGY},
            "selector": {"matchLabels": labels},
            # What a node stores is a cache that can be filled again: it goes with its generation.
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
            "template": _pod_template(inputs, generation),
            **_optional("volumeClaimTemplates", claims),
        },
    }


def _pod_template(inputs: EngineInputs, generation: int) -> Manifest:
    template = effective_template(inputs)
    labels = template.labels | generation_labels(inputs.name, generation)
    token = template.pod.get(TOKEN_FIELD)
    spec = {
        **template.pod,
        # An engine has no business with the API server; queries run code of strangers.
        TOKEN_FIELD: False if token is None else token,
        "terminationGracePeriodSeconds": GRACE_PERIOD_SECONDS,
        "securityContext": template.security_context,
        # Variables made from Service names could shadow the engine's own configuration.
        "enableServiceLinks": False,
        "containers": _containers(inputs, template),
        "volumes": pod_volumes(inputs, generation, template),
        **_optional("initContainers", template.init_containers),
    }
    return {
        "metadata": {"labels": labels, **_optional("annotations", template.annotations)},
        # Nothing empty is sent: of a field that we own and that is not there we then know that the server dropped it.
        "spec": without_absent("spec", spec),
    }


def _containers(inputs: EngineInputs, template: EffectiveTemplate) -> list[Manifest]:
    has_ui = effective_ui_sidecar(inputs.spec, inputs.engine_class)
    ui = [ui_sidecar(inputs, template)] if has_ui else []
    return [engine_container(inputs, template), *template.sidecars, *ui]


def _optional(field: str, value: object) -> Manifest:
    """An absent key is no opinion in a server-side apply; an empty one would claim the field."""
    return {field: value} if value else {}


def engine_class_hash(engine_class: ClassInfo | None) -> str:
    """Over the whole template: an edit of the class rolls every engine of it, even one that overrides the field."""
    return content_hash(canonical_json(engine_class.spec.template)) if engine_class else ""


def engine_preset_hash(preset: PresetInfo | None) -> str:
    """For people: what is rendered from it decides about drift, so that an edit without effect rolls nobody."""
    return content_hash(canonical_json(msgspec.to_builtins(preset.spec))) if preset else ""


def custom_config_hash(inputs: EngineInputs) -> str:
    """Over what is left after the operator's own paths are removed; nothing left means no hash."""
    config = merged_custom_config(inputs)
    return content_hash(canonical_json(config)) if config else ""


def hash_annotations(inputs: EngineInputs) -> dict[str, str]:
    """What the StatefulSet's own metadata carries; an empty value is left out."""
    annotations = {
        names.ANNOTATION_METADATA_OVERRIDE: inputs.spec.metadata_endpoint_override or "",
        names.ANNOTATION_CUSTOM_CONFIG_HASH: custom_config_hash(inputs),
        names.ANNOTATION_ENGINE_CLASS_HASH: engine_class_hash(inputs.engine_class),
        names.ANNOTATION_ENGINE_PRESET_HASH: engine_preset_hash(inputs.preset),
        **inputs.instance.hash_annotations,
    }
    return {name: value for name, value in annotations.items() if value}
