"""Does a pod template set a field that belongs to the operator? One walker for all components, in one fixed order."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, Final

from firebolt_operator.api.names import RESERVED_PREFIX
from firebolt_operator.manifests.reading import mapping, mappings, text
from firebolt_operator.policy.component_rules import METADATA_FIELDS, USABLE_METADATA, ComponentRules, OwnedField
from firebolt_operator.policy.field_errors import MOST_ERRORS, FieldError, Path, duplicate, first, forbidden
from firebolt_operator.refs import Manifest

KNOWN_METADATA: Final = USABLE_METADATA.union(field.name for field in METADATA_FIELDS)
RESERVED_KEY: Final = f'keys with the "{RESERVED_PREFIX}" prefix are reserved for the operator'


def check_owned_fields(template: Manifest | None, base: Path, rules: ComponentRules) -> list[FieldError]:
    """Metadata, labels, annotations, pod fields, volumes, containers, init containers: the order of the errors."""
    document = mapping(template)
    pod = mapping(document.get("spec"))
    return first(
        chain(
            _metadata_errors(mapping(document.get("metadata")), base.child("metadata")),
            _field_errors(pod, base.child("spec"), rules.pod_fields),
            _volume_errors(pod, base.child("spec", "volumes"), rules),
            _container_errors(pod, base.child("spec", "containers"), rules),
            _init_container_errors(pod, base.child("spec", "initContainers"), rules),
        )
    )


def _is_set(value: Any, *, nullable: bool) -> bool:
    return value is not None if nullable else bool(value)


def _field_errors(node: Manifest, base: Path, fields: Iterable[OwnedField]) -> Iterator[FieldError]:
    for field in fields:
        handed_over = bool(field.unless and node.get(field.unless))
        if _is_set(node.get(field.name), nullable=field.nullable) and not handed_over:
            yield forbidden(base.child(field.name), field.detail)


def _metadata_errors(metadata: Manifest, base: Path) -> Iterator[FieldError]:
    yield from _field_errors(metadata, base, METADATA_FIELDS)
    yield from _field_errors(metadata, base, _unknown_fields(metadata))
    for field in ("labels", "annotations"):
        reserved = (key for key in mapping(metadata.get(field)) if key.startswith(RESERVED_PREFIX))
        for key in sorted(islice(reserved, MOST_ERRORS)):
            yield forbidden(base.child(field).at(key), RESERVED_KEY)


def _unknown_fields(metadata: Manifest) -> list[OwnedField]:
    """The schema keeps unknown keys here, and only here: they would reach no pod."""
    unknown = (name for name in metadata if name not in KNOWN_METADATA)
    return [
        OwnedField(name, f"pod template metadata.{name} has no effect: only labels and annotations do; remove it")
        for name in sorted(islice(unknown, MOST_ERRORS))
    ]


def _volume_errors(pod: Manifest, base: Path, rules: ComponentRules) -> Iterator[FieldError]:
    for index, volume in enumerate(mappings(pod.get("volumes"))):
        name = text(volume.get("name"))
        if rules.owns_volume(name):
            detail = f'volume name "{name}" is reserved by the {rules.component} operator; pick a different name'
            yield forbidden(base.at(index).child("name"), detail)


def _container_errors(pod: Manifest, base: Path, rules: ComponentRules) -> Iterator[FieldError]:
    has_primary = False
    for index, container in enumerate(mappings(pod.get("containers"))):
        path = base.at(index)
        name = text(container.get("name"))
        if name == rules.primary and has_primary:
            yield duplicate(path.child("name"), name)
        elif name == rules.primary:
            has_primary = True
            yield from _primary_errors(container, path, rules)
        elif name in rules.reserved_containers:
            yield _reserved_name(path, name, rules)
        else:
            yield from _guarded_mount_errors(container, path, rules)


def _init_container_errors(pod: Manifest, base: Path, rules: ComponentRules) -> Iterator[FieldError]:
    for index, container in enumerate(mappings(pod.get("initContainers"))):
        path = base.at(index)
        name = text(container.get("name"))
        if name == rules.primary:
            detail = (
                f'init container name "{name}" collides with the {rules.component} container; pick a different name'
            )
            yield forbidden(path.child("name"), detail)
        elif name in rules.reserved_containers:
            yield _reserved_name(path, name, rules)
        yield from _guarded_mount_errors(container, path, rules)


def _primary_errors(container: Manifest, path: Path, rules: ComponentRules) -> Iterator[FieldError]:
    yield from _field_errors(container, path, rules.primary_fields)
    closed = {field.name for field in rules.primary_fields}
    if "env" not in closed:
        yield from _reserved_env_errors(container, path.child("env"), rules)
    if "volumeMounts" not in closed:
        yield from _owned_mount_errors(container, path.child("volumeMounts"), rules)


def _reserved_env_errors(container: Manifest, base: Path, rules: ComponentRules) -> Iterator[FieldError]:
    for index, entry in enumerate(mappings(container.get("env"))):
        key = text(entry.get("name"))
        if key in rules.reserved_env:
            detail = f'env key "{key}" is injected by the operator; pick a different name'
            yield forbidden(base.at(index).child("name"), detail)


def _owned_mount_errors(container: Manifest, base: Path, rules: ComponentRules) -> Iterator[FieldError]:
    for index, mount in enumerate(mappings(container.get("volumeMounts"))):
        name = text(mount.get("name"))
        if rules.owns_volume(name):
            detail = f'volumeMount name "{name}" is operator-owned; pick a different name'
            yield forbidden(base.at(index).child("name"), detail)


def _guarded_mount_errors(container: Manifest, path: Path, rules: ComponentRules) -> Iterator[FieldError]:
    for index, mount in enumerate(mappings(container.get("volumeMounts"))):
        name = text(mount.get("name"))
        if rules.guards_volume(name):
            detail = f'volume "{name}" is a Secret-backed operator-owned volume of the {rules.component} component'
            yield forbidden(path.child("volumeMounts").at(index).child("name"), detail)


def _reserved_name(path: Path, name: str, rules: ComponentRules) -> FieldError:
    return forbidden(path.child("name"), f'container name "{name}" is reserved by the {rules.component} operator')
