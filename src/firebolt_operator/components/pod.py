"""What does the pod template of an instance's component look like once the user's template and ours are one?

Checks have refused every field that the operator owns, so there is no precedence to settle: the user's template comes
first, our fields are stamped on top, and whatever neither side knows passes through.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from firebolt_operator.policy.component_rules import ComponentRules
from firebolt_operator.policy.protected_secrets import reaches_protected
from firebolt_operator.policy.reading import mapping, mappings
from firebolt_operator.refs import Manifest

CHOSEN_BY_USER: Final = ("image", "imagePullPolicy")
RESOURCE_KINDS: Final = ("requests", "limits", "claims")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentPod:
    """The operator's part of one component's pod."""

    rules: ComponentRules
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    container: Manifest  # the primary one; image, pull policy and resources are defaults
    volumes: Sequence[Manifest]
    sidecars: Sequence[Manifest] = ()  # the operator's own, after the user's
    fields: Mapping[str, Any] = field(default_factory=dict)  # further fields of the pod spec; they win


def merged_component_pod(
    template: Manifest | None, ours: ComponentPod, *, protected_secrets: Collection[str]
) -> Manifest:
    """The pod template for the component's workload."""
    user = user_pod_spec(template)
    containers = mappings(user.get("containers"))
    spec: Manifest = {
        **user,
        **ours.fields,
        "containers": [
            primary_container(template, ours.rules, ours.container),
            *(container for container in containers if container.get("name") != ours.rules.primary),
            *ours.sidecars,
        ],
        "volumes": [*ours.volumes, *_user_volumes(user, ours.rules, protected_secrets)],
    }
    return {"metadata": _pod_metadata(template, ours), "spec": spec}


def user_pod_spec(template: Manifest | None) -> Manifest:
    return mapping(mapping(template).get("spec"))


def primary_container(template: Manifest | None, rules: ComponentRules, ours: Manifest) -> Manifest:
    """The operator's container with the image, pull policy and resources of the user's namesake, where set."""
    containers = mappings(user_pod_spec(template).get("containers"))
    user: Manifest = next((each for each in containers if each.get("name") == rules.primary), {})
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


def _user_volumes(user: Manifest, rules: ComponentRules, protected_secrets: Collection[str]) -> list[Manifest]:
    # Checks refuse these already; a volume that slips past them must still not shadow ours or show a Secret of ours.
    return [
        volume
        for volume in mappings(user.get("volumes"))
        if not rules.owns_volume(str(volume.get("name", ""))) and not reaches_protected(volume, protected_secrets)
    ]
