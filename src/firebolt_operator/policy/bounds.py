"""Does an engine ask for more than the operator's administrator allows?"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from firebolt_operator.api.engine_settings import MOST_REPLICAS, AutoStop
from firebolt_operator.api.names import CONTAINER_ENGINE
from firebolt_operator.api.quantities import canonical_quantity, parse_quantity
from firebolt_operator.errors import ConfigurationError
from firebolt_operator.manifests.reading import mapping, mappings
from firebolt_operator.policy.field_errors import FieldError, Path, invalid
from firebolt_operator.policy.inherited import Inherited
from firebolt_operator.refs import Manifest

RESOURCES: Final = Path("spec").child("template", "spec", "containers").at(CONTAINER_ENGINE).child("resources")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceBounds:
    """Quantities in canonical form; empty means no bound."""

    cpu: str = ""
    memory: str = ""
    ephemeral_storage: str = ""
    replicas: int = MOST_REPLICAS

    def __bool__(self) -> bool:
        return bool(self.cpu or self.memory or self.ephemeral_storage) or self.replicas < MOST_REPLICAS


def parse_bounds(*, cpu: str, memory: str, ephemeral_storage: str, replicas: int = MOST_REPLICAS) -> ResourceBounds:
    """The flags `--engine-max-*`; empty and zero mean no bound, and the first malformed one ends the start-up."""
    return ResourceBounds(
        cpu=_parse_bound("--engine-max-cpu", cpu),
        memory=_parse_bound("--engine-max-memory", memory),
        ephemeral_storage=_parse_bound("--engine-max-ephemeral-storage", ephemeral_storage),
        replicas=replicas,
    )


def check_replicas(replicas: int, path: Path, bounds: ResourceBounds) -> list[FieldError]:
    if replicas <= bounds.replicas:
        return []
    return [invalid(path, replicas, f"exceeds operator-configured maximum {bounds.replicas}")]


def check_auto_stop_replicas(policy: AutoStop, path: Path, bounds: ResourceBounds) -> list[FieldError]:
    """What parking and waking would write into an engine's spec."""
    return [
        *check_replicas(policy.active_replicas, path.child("activeReplicas"), bounds),
        *check_replicas(policy.idle_replicas, path.child("idleReplicas"), bounds),
    ]


def check_bounds(template: Manifest | None, inherited: Inherited, bounds: ResourceBounds) -> list[FieldError]:
    """The engine's own resources count, else those of the highest that sets any: whoever sets any sets them all."""
    layers = [("", template), *((each.origin, each.template) for each in inherited)]
    for origin, layer in layers:
        resources = _engine_resources(layer)
        if _has_any(resources):
            return list(_excesses(resources, bounds, origin))
    return []


def _parse_bound(flag: str, value: str) -> str:
    if not value:
        return ""
    try:
        amount = parse_quantity(value)
    except ValueError as err:
        raise ConfigurationError(f"{flag}: {err}") from err
    if amount < 0:
        raise ConfigurationError(f'{flag}: "{value}" is below zero')
    return canonical_quantity(value) if amount else ""


def _engine_resources(template: Manifest | None) -> Manifest:
    containers = mappings(mapping(mapping(template).get("spec")).get("containers"))
    engine = next((container for container in containers if container.get("name") == CONTAINER_ENGINE), {})
    return mapping(engine.get("resources"))


def _has_any(resources: Manifest) -> bool:
    return any(resources.get(field) for field in ("requests", "limits", "claims"))


def _excesses(resources: Manifest, bounds: ResourceBounds, origin: str) -> Iterator[FieldError]:
    sorted_bounds = (("cpu", bounds.cpu), ("ephemeral-storage", bounds.ephemeral_storage), ("memory", bounds.memory))
    for field in ("requests", "limits"):
        amounts = mapping(resources.get(field))
        for name, bound in sorted_bounds:
            value = amounts.get(name)
            if bound and value is not None:
                yield from _excess(value, bound, RESOURCES.child(field, name), origin)


def _excess(value: Any, bound: str, path: Path, origin: str) -> Iterator[FieldError]:
    amount = _amount(value)
    if amount is None:
        # Fails closed: what cannot be compared cannot be shown to stay below the bound.
        yield invalid(path, value, f"is not a quantity{origin}")
    elif amount > parse_quantity(bound):
        detail = f"exceeds operator-configured maximum {bound}{origin}"
        yield invalid(path, canonical_quantity(value), detail)


def _amount(value: Any) -> Fraction | None:
    try:
        return parse_quantity(value)
    except ValueError:
        return None
