"""What do the components of an instance have in common: labels, owner, and a pod template of the user's and ours?

Checks have refused every field that the operator owns, so there is no precedence to settle: the user's template comes
first, our fields are stamped on top, and whatever neither side knows passes through.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.labels import component_labels
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.manifests.owners import Owner, child_metadata
from firebolt_operator.manifests.reading import mapping, mappings
from firebolt_operator.refs import Manifest

CHOSEN_BY_USER: Final = ("image", "imagePullPolicy")
RESOURCE_KINDS: Final = ("requests", "limits", "claims")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentPod:
    """The operator's part of one component's pod."""

    primary: str  # the name of its container
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    container: Manifest  # the primary one: image, pull policy and resources are defaults
    volumes: Sequence[Manifest]
    sidecars: Sequence[Manifest] = ()  # the operator's own, after the user's
    fields: Mapping[str, Any] = field(default_factory=dict)  # further fields of the pod spec; they win
    keeps_volume: Callable[[Manifest], bool]  # of the user's: one that slips past the checks must not shadow ours


def owner_of(instance: FireboltInstance) -> Owner:
    metadata = instance.metadata
    return Owner(resource=FIREBOLT_INSTANCES, namespace=metadata.namespace, name=metadata.name, uid=metadata.uid)


def component_metadata(instance: FireboltInstance, name: str, component: str) -> Manifest:
    return child_metadata(owner_of(instance), name, component_labels(instance.metadata.name, component))


def merged_component_pod(template: Manifest | None, ours: ComponentPod) -> Manifest:
    """The pod template for the component's workload."""
    user = user_pod_spec(template)
    containers = mappings(user.get("containers"))
    spec: Manifest = {
        **user,
        **ours.fields,
        "containers": [
            primary_container(template, ours.primary, ours.container),
            *(container for container in containers if container.get("name") != ours.primary),
            *ours.sidecars,
        ],
        "volumes": [*ours.volumes, *filter(ours.keeps_volume, mappings(user.get("volumes")))],
    }
    return {"metadata": _pod_metadata(template, ours), "spec": spec}


def user_pod_spec(template: Manifest | None) -> Manifest:
    return mapping(mapping(template).get("spec"))


def primary_container(template: Manifest | None, primary: str, ours: Manifest) -> Manifest:
    """The operator's container with the image, pull policy and resources of the user's namesake, where set."""
    containers = mappings(user_pod_spec(template).get("containers"))
    user: Manifest = next((each for each in containers if each.get("name") == primary), {})
    chosen = {key: user[key] for key in CHOSEN_BY_USER if user.get(key)}
    resources = mapping(user.get("resources"))
    if any(resources.get(kind) for kind in RESOURCE_KINDS):
        chosen["resources"] = resources
    passed_through = {key: value for key, value in user.items() if key != "resources"}
    return {**passed_through, **ours, **chosen}


def _pod_metadata(template: Manifest | None, ours: ComponentPod) -> Manifest:
    user = mapping(mapping(template).get("metadata"))
    return {
        "labels": {**mapping(user.get("labels")), **ours.labels},
        "annotations": {**mapping(user.get("annotations")), **ours.annotations},
    }
