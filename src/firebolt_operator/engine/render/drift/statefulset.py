"""Does a live StatefulSet still match what its engine asks for? The one place that decides it.

Any mismatch starts a new generation. The wanted StatefulSet is rendered at the live one's generation, and the two are
compared field by field: every field of the pod template counts, except a few of the operator's own, so that a new
version of the operator does not roll every engine for a changed probe.
"""

from typing import Any, Final

from firebolt_operator.api import names
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.render.drift.comparison import Comparison, Difference, Path
from firebolt_operator.engine.render.drift.fields import AppliedFields, is_known_field
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.engine.render.template import TOKEN_FIELD, asks_for_token
from firebolt_operator.engine.views import generation_number
from firebolt_operator.manifests.reading import mapping, mappings
from firebolt_operator.refs import Manifest

COMPARED_ANNOTATIONS: Final = (
    names.ANNOTATION_METADATA_OVERRIDE,
    names.ANNOTATION_CUSTOM_CONFIG_HASH,
    names.ANNOTATION_AUTH_HASH,
    names.ANNOTATION_ENGINE_TLS_HASH,
    names.ANNOTATION_ENGINE_CLASS_HASH,
)
UNCOMPARED_OF_ENGINE: Final = frozenset({"command", "args", "ports", "readinessProbe", "livenessProbe", "startupProbe"})
UNCOMPARED_OF_POD: Final = frozenset(
    {
        "enableServiceLinks",
        "serviceAccount",  # the API server's copy of serviceAccountName
    }
)
TEMPLATE_PATH: Final[Path] = ("spec", "template")
TOKEN_PATH: Final[Path] = (*TEMPLATE_PATH, "spec", TOKEN_FIELD)


def find_drift(live: Manifest, inputs: EngineInputs) -> str | None:
    """The first difference in words; None when there is none.

    `live` needs metadata.managedFields to excuse fields that the API server dropped; without them they count as drift.
    """
    generation = _generation(live)
    if generation is None:
        return f"metadata.labels: live {mapping(live.get('metadata')).get('labels')}, wanted the two of its generation"
    wanted = engine_statefulset(inputs, generation)
    found = _first_difference(wanted, live, inputs)
    return None if found is None else str(found)


def _generation(live: Manifest) -> int | None:
    labels = mapping(mapping(live.get("metadata")).get("labels"))
    return generation_number(labels.get(names.LABEL_GENERATION, "")) if names.LABEL_ENGINE in labels else None


def _first_difference(wanted: Manifest, live: Manifest, inputs: EngineInputs) -> Difference | None:
    applied = AppliedFields(live)
    comparison = Comparison(
        lambda difference: _is_excused(difference, applied) or _is_of_the_first_release(difference, inputs)
    )
    wanted_spec, live_spec = wanted["spec"], mapping(live.get("spec"))
    return (
        _replicas(wanted_spec, live_spec)
        or _annotations(wanted, live)
        or _claims(comparison, wanted_spec, live_spec)
        or _template(comparison, wanted_spec["template"], mapping(live_spec.get("template")))
    )


def _is_excused(difference: Difference, applied: AppliedFields) -> bool:
    if difference.wanted is None:
        return difference.path[:2] == TEMPLATE_PATH and not is_known_field(difference.path[2:])
    return applied.has(difference.path)


def _is_of_the_first_release(difference: Difference, inputs: EngineInputs) -> bool:
    """It said nothing about tokens. Now new generations get none, which is no reason to roll every engine."""
    return difference == Difference(TOKEN_PATH, None, wanted=False) and not asks_for_token(inputs)


def _replicas(wanted: Manifest, live: Manifest) -> Difference | None:
    if wanted["replicas"] == live.get("replicas"):
        return None
    return Difference(("spec", "replicas"), live.get("replicas"), wanted["replicas"])


def _annotations(wanted: Manifest, live: Manifest) -> Difference | None:
    left, right = _annotations_of(wanted), _annotations_of(live)
    for name in COMPARED_ANNOTATIONS:
        if left.get(name, "") != right.get(name, ""):
            return Difference(("metadata", "annotations", name), right.get(name), left.get(name))
    return None


def _annotations_of(statefulset: Manifest) -> Manifest:
    return mapping(mapping(statefulset.get("metadata")).get("annotations"))


def _claims(comparison: Comparison, wanted: Manifest, live: Manifest) -> Difference | None:
    """Only what decides about the data: the API server adds a status and more to a claim."""
    left, right = ({"volumeClaimTemplates": _compared_claims(spec)} for spec in (wanted, live))
    return comparison.objects(left, right, ("spec",))


def _compared_claims(spec: Manifest) -> list[Manifest]:
    return [_compared_claim(claim) for claim in mappings(spec.get("volumeClaimTemplates"))]


def _compared_claim(claim: Manifest) -> Manifest:
    spec = mapping(claim.get("spec"))
    requests = mapping(mapping(spec.get("resources")).get("requests"))
    return {
        "name": mapping(claim.get("metadata")).get("name"),
        "requests": {"storage": requests.get("storage")},
        "accessModes": spec.get("accessModes"),
        "storageClassName": spec.get("storageClassName"),
    }


def _template(comparison: Comparison, wanted: Manifest, live: Manifest) -> Difference | None:
    left, right = (_compared_template(template) for template in (wanted, live))
    return comparison.objects(left, right, TEMPLATE_PATH)


def _compared_template(template: Manifest) -> Manifest:
    metadata, pod = mapping(template.get("metadata")), mapping(template.get("spec"))
    return {
        "metadata": {"labels": metadata.get("labels"), "annotations": metadata.get("annotations")},
        "spec": {
            **{name: value for name, value in pod.items() if name not in UNCOMPARED_OF_POD},
            "containers": [_compared_container(each) for each in mappings(pod.get("containers"))],
        },
    }


def _compared_container(container: Manifest) -> dict[str, Any]:
    if container.get("name") != names.CONTAINER_ENGINE:
        return container
    return {name: value for name, value in container.items() if name not in UNCOMPARED_OF_ENGINE}
