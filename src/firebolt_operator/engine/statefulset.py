"""What does a generation's StatefulSet look like?"""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.engine.api_defaults import without_absent
from firebolt_operator.engine.effective import effective_ui_sidecar
from firebolt_operator.engine.engine_config import GRACE_PERIOD_SECONDS
from firebolt_operator.engine.engine_container import engine_container
from firebolt_operator.engine.hashes import hash_annotations
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.ownership import child_metadata, generation_labels
from firebolt_operator.engine.template import TOKEN_FIELD, EffectiveTemplate, effective_template
from firebolt_operator.engine.ui_sidecar import ui_sidecar
from firebolt_operator.engine.volumes import claim_templates, pod_volumes
from firebolt_operator.refs import Manifest

UPDATE_STRATEGY: Final = "OnDelete"
"""An edit by hand or `kubectl rollout restart` replaces no serving pod in place: it is drift, and a generation."""


def engine_statefulset(inputs: EngineInputs, generation: int) -> Manifest:
    name = names.statefulset_name(inputs.name, generation)
    labels = generation_labels(inputs.name, generation)
    claims = claim_templates(inputs, generation)
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": child_metadata(inputs, name, labels) | _optional("annotations", hash_annotations(inputs)),
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
