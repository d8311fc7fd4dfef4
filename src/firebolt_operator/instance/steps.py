"""Which of an instance's objects have to be written, and what does a failed write mean?"""

from typing import Final

from firebolt_operator.api.names import InstanceReason
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    POD_DISRUPTION_BUDGETS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.instance.blueprint import Blueprint, Pieces
from firebolt_operator.instance.facts import InstanceFacts
from firebolt_operator.instance.plan import Apply, Remake, Stage, Step
from firebolt_operator.instance.settled import is_answered, is_settled
from firebolt_operator.instance.views import LiveObject
from firebolt_operator.refs import Manifest, Ref

CHILD_RESOURCES: Final = (
    STATEFULSETS,
    DEPLOYMENTS,
    SERVICES,
    CONFIG_MAPS,
    POD_DISRUPTION_BUDGETS,
    SERVICE_ACCOUNTS,
    ROLES,
    ROLE_BINDINGS,
)
"""Kinds that are applied; the credentials Secret is created instead."""

_BY_KIND: Final = {resource.kind: resource for resource in (*CHILD_RESOURCES, SECRETS)}


def ref_of(manifest: Manifest) -> Ref:
    metadata = manifest["metadata"]
    return Ref(_BY_KIND[manifest["kind"]], metadata["namespace"], metadata["name"])


def guard_steps(blueprint: Blueprint, facts: InstanceFacts) -> tuple[Step, ...]:
    return _steps(blueprint.guard(), facts, Stage.GUARD, InstanceReason.ENSURE_FAILED)


def postgres_steps(blueprint: Blueprint, facts: InstanceFacts) -> tuple[Step, ...]:
    return _steps(blueprint.postgres(), facts, Stage.METADATA, InstanceReason.POSTGRES_ENSURE_FAILED)


def metadata_steps(blueprint: Blueprint, facts: InstanceFacts) -> tuple[Step, ...]:
    return _steps(blueprint.metadata(), facts, Stage.METADATA, InstanceReason.ENSURE_FAILED)


def gateway_steps(blueprint: Blueprint, facts: InstanceFacts) -> tuple[Step, ...]:
    return _steps(blueprint.gateway(), facts, Stage.GATEWAY, InstanceReason.ENSURE_FAILED)


def _steps(pieces: Pieces, facts: InstanceFacts, stage: Stage, reason: str) -> tuple[Step, ...]:
    found = ((piece, _write(piece.manifest, facts)) for piece in pieces)
    return tuple(
        Step(doing=f"ensuring {piece.what}", stage=stage, reason=reason, write=write)
        for piece, write in found
        if write is not None
    )


def _write(manifest: Manifest, facts: InstanceFacts) -> Apply | Remake | None:
    ref = ref_of(manifest)
    live = facts.live.get(ref)
    if live is None:
        return Apply(manifest)
    if live.metadata.is_deleting:
        # It cannot be restored yet; the event of its end starts the next pass.
        return None
    if is_answered(manifest, live, facts.answers.get(ref)) or is_settled(manifest, live):
        return None
    if "roleRef" in manifest and manifest["roleRef"] != live.content.get("roleRef") and _is_own(manifest, live):
        return Remake(live, manifest)
    return Apply(manifest)


def _is_own(manifest: Manifest, live: LiveObject) -> bool:
    """Somebody else's object of that name is never deleted: the apply fails, and the condition says so."""
    return any(live.is_owned_by(owner["uid"]) for owner in manifest["metadata"]["ownerReferences"])
