"""What the PostgreSQL that the operator runs for an instance has to work with."""

from typing import Annotated, Final, Literal

from firebolt_operator.api.model import Model, Quantity, note, rule

DEFAULT_SIZE: Final = "10Gi"
MOST_RESOURCES: Final = 16
POSITIVE_RULE = rule(
    "quantity(string(self)).isGreaterThan(quantity('0'))", "spec.metadata.postgresStorage.size must be more than 0"
)


def _size(spec: str) -> str:
    """As CEL, of what the rule calls self or oldSelf; an instance from before the field has the default."""
    storage = f"{spec}.postgresStorage"
    return f"quantity(string(has({storage}) && has({storage}.size) ? {storage}.size : '{DEFAULT_SIZE}'))"


SIZE_RULE = rule(
    f"{_size('self')}.compareTo({_size('oldSelf')}) == 0",
    "spec.metadata.postgresStorage.size cannot change once the instance exists, because a StatefulSet's claim template"
    " cannot; keep the old size and enlarge the PersistentVolumeClaim itself where its StorageClass allows it, or"
    " restore a backup into a new instance of the new size",
)
"""Whatever database is in use: one from before a switch to an external server may still be there."""


class PostgresResources(Model, frozen=True, kw_only=True):
    requests: Annotated[
        dict[str, Quantity], note("What the container is sure to have.", maxProperties=MOST_RESOURCES)
    ] = {}
    limits: Annotated[dict[str, Quantity], note("What the container gets at most.", maxProperties=MOST_RESOURCES)] = {}


DEFAULT_RESOURCES: Final = PostgresResources(
    requests={"cpu": "25m", "memory": "64Mi"}, limits={"cpu": "250m", "memory": "256Mi"}
)


class PostgresStorageSpec(Model, frozen=True, kw_only=True):
    size: Annotated[
        Quantity,
        note(
            "Size of the volume; fixed once the instance exists.",
            default=DEFAULT_SIZE,
            **{"x-kubernetes-validations": [POSITIVE_RULE]},
        ),
    ] = DEFAULT_SIZE
    resources: Annotated[
        PostgresResources | None,
        note("Requests and limits of the PostgreSQL container, instead of the operator's. A change restarts it."),
    ] = None
    reclaim_policy: Annotated[
        Literal["Delete", "Retain"],
        note(
            "What becomes of the database when the instance is deleted. Retain keeps its volume and its credentials;"
            " the next instance of that name gets both, and the id.",
            default="Delete",
        ),
    ] = "Delete"

    @property
    def is_kept(self) -> bool:
        return self.reclaim_policy == "Retain"
