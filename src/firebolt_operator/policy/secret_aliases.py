"""Does a template reach what is the operator's own: a Secret through a volume or the environment, or a claim?"""

from collections.abc import Iterator
from typing import Final

from firebolt_operator.manifests.reading import mapping, mappings, text
from firebolt_operator.policy.field_errors import FieldError, Path, first, forbidden
from firebolt_operator.policy.protected_secrets import (
    IsProtected,
    container_secrets,
    is_database_claim,
    volume_claims,
    volume_secrets,
)
from firebolt_operator.refs import Manifest

CONTAINER_LISTS: Final = ("containers", "initContainers")


def check_volume_secrets(
    template: Manifest | None, base: Path, component: str, is_protected: IsProtected
) -> list[FieldError]:
    """One error per volume and Secret or claim, at the volume."""
    volumes = mappings(mapping(mapping(template).get("spec")).get("volumes"))
    return first(
        forbidden(base.child("spec", "volumes").at(index), detail)
        for index, volume in enumerate(volumes)
        for detail in _volume_details(volume, component, is_protected)
    )


def check_environment_secrets(
    template: Manifest | None, base: Path, component: str, is_protected: IsProtected
) -> list[FieldError]:
    """One error per container and Secret, at the container; the primary container is not exempt."""
    return first(
        forbidden(base.child("spec", field).at(index), _environment_detail(container, secret, component))
        for field, index, container in _containers(template)
        for secret in container_secrets(container)
        if is_protected(secret)
    )


def _containers(template: Manifest | None) -> Iterator[tuple[str, int, Manifest]]:
    pod = mapping(mapping(template).get("spec"))
    for field in CONTAINER_LISTS:
        for index, container in enumerate(mappings(pod.get(field))):
            yield field, index, container


def _volume_details(volume: Manifest, component: str, is_protected: IsProtected) -> Iterator[str]:
    name = text(volume.get("name"))
    for secret in filter(is_protected, volume_secrets(volume)):
        yield (
            f'volume "{name}" reaches Secret "{secret}", which the {component} operator mounts itself;'
            " use a Secret of your own"
        )
    for claim in filter(is_database_claim, volume_claims(volume)):
        yield (
            f'volume "{name}" reaches PersistentVolumeClaim "{claim}", which holds the database of an instance;'
            " use a claim of your own"
        )


def _environment_detail(container: Manifest, secret: str, component: str) -> str:
    name = text(container.get("name"))
    return (
        f'container "{name}" reads Secret "{secret}" into its environment, which is for the {component} operator only;'
        " use a Secret of your own"
    )
