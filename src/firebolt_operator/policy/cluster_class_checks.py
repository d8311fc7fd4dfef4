"""What is wrong with a class of the whole cluster? It describes nodes, and names nothing that a namespace may lack."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from firebolt_operator.api.cluster_engine_class import ClusterEngineClassSpec
from firebolt_operator.manifests.reading import mapping, mappings
from firebolt_operator.policy.class_checks import TEMPLATE, check_shared_template
from firebolt_operator.policy.field_errors import FieldError, Path, first, forbidden
from firebolt_operator.policy.protected_secrets import volume_secrets
from firebolt_operator.policy.template_size import manageable
from firebolt_operator.refs import Manifest

SKU_ONLY: Final = "ClusterFireboltEngineClass is SKU-only; "
IDENTIFIER: Final = f"{SKU_ONLY}namespace-resolved identifiers belong on FireboltEnginePreset: "
NAMESPACED: Final = (
    f"{SKU_ONLY}a cluster-scoped catalog cannot reference a namespaced object that may not exist in a consumer's"
    " namespace — move it to the namespaced FireboltEngineClass or FireboltEnginePreset: "
)
ROLE_ANNOTATIONS: Final = ("iam.amazonaws.com/role", "eks.amazonaws.com/role-arn")
CONTAINER_LISTS: Final = ("containers", "initContainers")
CLONED: Final = ("dataSource", "dataSourceRef")


def check_cluster_class(spec: ClusterEngineClassSpec | None) -> list[FieldError]:
    if spec is None:
        return []
    template = mapping(manageable(spec.template))
    pod, base = mapping(template.get("spec")), TEMPLATE.child("spec")
    found = chain(
        _annotations(mapping(template.get("metadata"))),
        _pod_fields(pod, base),
        _volumes(pod, base.child("volumes")),
        *(_containers(pod, base, field) for field in CONTAINER_LISTS),
    )
    return [*check_shared_template(spec.template), *first(found)]


def _annotations(metadata: Manifest) -> Iterator[FieldError]:
    path = TEMPLATE.child("metadata", "annotations")
    for name in ROLE_ANNOTATIONS:
        if name in mapping(metadata.get("annotations")):
            yield forbidden(path.at(name), f"{IDENTIFIER}annotation {name}")


def _pod_fields(pod: Manifest, base: Path) -> Iterator[FieldError]:
    for field in ("serviceAccountName", "imagePullSecrets"):
        if pod.get(field):
            yield forbidden(base.child(field), f"{IDENTIFIER}{field}")
    if pod.get("resourceClaims"):
        yield forbidden(base.child("resourceClaims"), f"{NAMESPACED}ResourceClaim")


def _volumes(pod: Manifest, base: Path) -> Iterator[FieldError]:
    for index, volume in enumerate(mappings(pod.get("volumes"))):
        path = base.at(index)
        if _has_secret(volume):
            yield forbidden(path, f"{IDENTIFIER}Secret volume")
        if volume.get("configMap") is not None or any("configMap" in each for each in _projected(volume)):
            yield forbidden(path, f"{NAMESPACED}ConfigMap")
        if volume.get("persistentVolumeClaim") is not None:
            yield forbidden(path, f"{NAMESPACED}PersistentVolumeClaim")
        claim = mapping(mapping(mapping(volume.get("ephemeral")).get("volumeClaimTemplate")).get("spec"))
        for field in CLONED:
            if claim.get(field) is not None:
                yield forbidden(path.child("ephemeral", "volumeClaimTemplate", "spec", field), f"{NAMESPACED}{field}")


def _has_secret(volume: Manifest) -> bool:
    """Even one without a name: what it means is not for a class of the cluster to say."""
    is_plain = volume.get("secret") is not None or any("secret" in each for each in _projected(volume))
    return is_plain or bool(volume_secrets(volume))


def _projected(volume: Manifest) -> list[Manifest]:
    return mappings(mapping(volume.get("projected")).get("sources"))


def _containers(pod: Manifest, base: Path, field: str) -> Iterator[FieldError]:
    for index, container in enumerate(mappings(pod.get(field))):
        path = base.child(field).at(index)
        sources = [mapping(each.get("valueFrom")) for each in mappings(container.get("env"))]
        imported = mappings(container.get("envFrom"))
        if any("secretKeyRef" in each for each in sources) or any("secretRef" in each for each in imported):
            yield forbidden(path, f"{IDENTIFIER}Secret environment")
        if any("configMapKeyRef" in each for each in sources) or any("configMapRef" in each for each in imported):
            yield forbidden(path, f"{NAMESPACED}ConfigMap")
        if mapping(container.get("resources")).get("claims"):
            yield forbidden(path.child("resources", "claims"), f"{NAMESPACED}ResourceClaim")
