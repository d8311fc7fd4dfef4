"""Which of an instance's objects have to be written, and what does a failed write mean?"""

from collections.abc import Sequence
from typing import Final

from firebolt_operator.api.names import InstanceReason
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    POD_DISRUPTION_BUDGETS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.instance.blueprint import Blueprint, Pieces
from firebolt_operator.instance.facts import Answer, InstanceFacts
from firebolt_operator.instance.plan import Apply, Refuse, Remake, Stage, Step, Unknown, Write
from firebolt_operator.manifests.applied import is_applied
from firebolt_operator.manifests.live_objects import LiveObject, stranger
from firebolt_operator.manifests.references import ref_of
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.tls.facts import SecretRevisions, TrustBundle

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
"""Kinds that are applied; of Secrets only the one with CAs is, the one with credentials is created instead."""


def guard_steps(blueprint: Blueprint, facts: InstanceFacts) -> tuple[Step, ...]:
    return _steps(blueprint.guard(), facts, Stage.GUARD, InstanceReason.ENSURE_FAILED)


def postgres_steps(blueprint: Blueprint, facts: InstanceFacts) -> tuple[Step, ...]:
    return _steps(blueprint.postgres(), facts, Stage.METADATA_SERVICE, InstanceReason.POSTGRES_ENSURE_FAILED)


def metadata_service_steps(blueprint: Blueprint, facts: InstanceFacts) -> tuple[Step, ...]:
    return _steps(
        blueprint.metadata_service(facts.login_digest), facts, Stage.METADATA_SERVICE, InstanceReason.ENSURE_FAILED
    )


def trust_steps(blueprint: Blueprint, facts: InstanceFacts, bundle: TrustBundle | None) -> tuple[Step, ...]:
    """Without CAs there is nobody to be verified yet."""
    pieces = blueprint.trust(bundle) if bundle is not None and bundle.authorities else ()
    return _steps(pieces, facts, Stage.GATEWAY, InstanceReason.ENSURE_FAILED)


def gateway_steps(blueprint: Blueprint, facts: InstanceFacts, revisions: SecretRevisions) -> tuple[Step, ...]:
    return _steps(blueprint.gateway(revisions), facts, Stage.GATEWAY, InstanceReason.ENSURE_FAILED)


def unconfirmed(steps: Sequence[Step], facts: InstanceFacts) -> tuple[Ref, ...]:
    """What the steps would make, although only a cache says that it is not there.

    A cache knows what carries our label. Somebody's object without it would be taken over.
    """
    made = (ref_of(step.write.manifest) for step in steps if isinstance(step.write, Apply))
    return tuple(ref for ref in made if ref not in facts.live and ref not in facts.confirmed)


def _steps(pieces: Pieces, facts: InstanceFacts, stage: Stage, reason: str) -> tuple[Step, ...]:
    found = ((piece, _write(piece.manifest, facts)) for piece in pieces)
    return tuple(
        Step(doing=f"ensuring {piece.what}", stage=stage, reason=_reason(write, reason), write=write)
        for piece, write in found
        if write is not None
    )


def _reason(write: Write, reason: str) -> str:
    return InstanceReason.PROBE_FAILED if isinstance(write, Unknown) else reason


def _write(manifest: Manifest, facts: InstanceFacts) -> Write | None:
    ref = ref_of(manifest)
    if ref in facts.unreadable:
        return Unknown(manifest, facts.unreadable[ref])
    live = facts.live.get(ref)
    if live is None:
        return Apply(manifest)
    if live.metadata.is_deleting or is_last_answer(manifest, live, facts.answers.get(ref)):
        # What is being deleted cannot be restored yet; the event of its end starts the next pass.
        return None
    return _change(manifest, live)


def is_last_answer(rendered: Manifest, live: LiveObject, answer: Answer | None) -> bool:
    """We applied just this before, and the object still is what came of it."""
    if answer is None or answer.applied != rendered:
        return False
    stored = answer.stored
    return stored.content == live.content and stored.owned == live.owned


def _change(manifest: Manifest, live: LiveObject) -> Write | None:
    theirs = stranger(_owner_uid(manifest), live)
    if theirs is not None:
        name = f"{manifest['kind']} {live.metadata.namespace}/{live.metadata.name}"
        return Refuse(manifest, f"{name} exists and {theirs}; delete it, or give the instance another name")
    if is_applied(manifest, live):
        return None
    if "roleRef" in manifest and manifest["roleRef"] != live.content.get("roleRef"):
        return Remake(live, manifest)
    return Apply(manifest)


def _owner_uid(manifest: Manifest) -> str:
    (owner,) = manifest["metadata"]["ownerReferences"]
    return str(owner["uid"])
