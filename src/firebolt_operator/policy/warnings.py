"""What is legal and yet surely not what somebody wants? Told to whoever writes it, and refused to nobody."""

from collections.abc import Iterator
from typing import Final

from firebolt_operator.api.duration_fields import malformed_durations
from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.api.engine_settings import AutoStop
from firebolt_operator.api.instance import InstanceSpec
from firebolt_operator.api.texts import shortened
from firebolt_operator.api.time_zones import time_zone
from firebolt_operator.manifests.images import names_a_version
from firebolt_operator.manifests.reading import mapping, mappings, text
from firebolt_operator.policy.field_errors import Path
from firebolt_operator.policy.inherited import FoundClass
from firebolt_operator.policy.template_size import manageable
from firebolt_operator.refs import Manifest

SPEC: Final = Path("spec")
CONTAINER_LISTS: Final = ("containers", "initContainers")


def engine_warnings(spec: EngineSpec, found: FoundClass | None) -> list[str]:
    inherited = found.spec.auto_stop if found else None
    policy = inherited if spec.auto_stop is None else spec.auto_stop
    return [
        *_idle_schedule(spec, policy),
        *(_zone_warnings(spec.auto_stop) if spec.auto_stop else ()),
        *(_class_warnings(found) if found else ()),
        *_image_warnings(spec.template, SPEC.child("template")),
    ]


def template_warnings(template: Manifest | None) -> list[str]:
    """Of what engines share and what is nothing but a template."""
    return list(_image_warnings(template, SPEC.child("template")))


def class_warnings(spec: EngineClassSpec | None) -> list[str]:
    if spec is None:
        return []
    return [
        *(_zone_warnings(spec.auto_stop) if spec.auto_stop else ()),
        *_image_warnings(spec.template, SPEC.child("template")),
    ]


def instance_warnings(spec: InstanceSpec) -> list[str]:
    return [
        *_image_warnings(spec.metadata.template, SPEC.child("metadata", "template")),
        *_image_warnings(spec.gateway.template, SPEC.child("gateway", "template")),
    ]


def _idle_schedule(spec: EngineSpec, policy: AutoStop | None) -> Iterator[str]:
    if spec.replicas == 0 and policy is not None and not policy.enabled and policy.schedule:
        yield (
            "spec.replicas: 0 and auto-stop is off: its schedule starts nothing; set spec.autoStop.enabled to true,"
            " or spec.replicas to what should run"
        )


def _zone_warnings(policy: AutoStop) -> Iterator[str]:
    if time_zone(policy.time_zone) is None:
        yield (
            f'spec.autoStop.timeZone: "{shortened(policy.time_zone)}" is no time zone: engines are woken, but neither'
            " parked nor scheduled"
        )


def _class_warnings(found: FoundClass) -> Iterator[str]:
    """The engine runs all the same, without the setting."""
    for each in malformed_durations(found.spec):
        yield f'spec.engineClassRef: {found.kind} "{found.name}" has a bad {each.field}: {each.problem}'


def _image_warnings(template: Manifest | None, base: Path) -> Iterator[str]:
    pod = mapping(mapping(manageable(template)).get("spec"))
    for field in CONTAINER_LISTS:
        for index, container in enumerate(mappings(pod.get(field))):
            image = text(container.get("image"))
            if image and not names_a_version(image):
                path = base.child("spec", field).at(index).child("image")
                yield f'{path}: "{shortened(image)}" has no tag: pods may differ in version; name a tag or a digest'
