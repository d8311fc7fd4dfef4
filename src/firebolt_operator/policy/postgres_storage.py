"""Can the internal PostgreSQL run with what it is given? Kubernetes would say so too, but of an object nobody wrote."""

from collections.abc import Iterator
from fractions import Fraction

from firebolt_operator.api.model import Quantity
from firebolt_operator.api.postgres_storage import PostgresResources, PostgresStorageSpec
from firebolt_operator.api.quantities import parse_quantity
from firebolt_operator.policy.field_errors import FieldError, Path, invalid


def check_postgres_storage(storage: PostgresStorageSpec, path: Path) -> list[FieldError]:
    if storage.resources is None:
        return []
    return list(_resource_errors(storage.resources, path.child("resources")))


def _resource_errors(resources: PostgresResources, path: Path) -> Iterator[FieldError]:
    for field, amounts in (("limits", resources.limits), ("requests", resources.requests)):
        for name, value in amounts.items():
            amount = _amount(value)
            if amount is None or amount < 0:
                yield invalid(path.child(field).at(name), value, "must be a quantity of 0 or more, such as 500m or 1Gi")
            elif field == "requests" and _exceeds(amount, resources.limits.get(name)):
                limit = resources.limits[name]
                yield invalid(path.child(field).at(name), value, f"must be at most the limit, which is {limit}")


def _exceeds(amount: Fraction, limit: Quantity | None) -> bool:
    most = None if limit is None else _amount(limit)
    return most is not None and amount > most


def _amount(value: Quantity) -> Fraction | None:
    try:
        return parse_quantity(value)
    except ValueError:
        return None
