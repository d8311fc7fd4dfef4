"""May the database be made, or relied upon? Its password is minted once and must never be replaced."""

from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.instance_id import is_same_id
from firebolt_operator.api.labels import component_labels
from firebolt_operator.api.names import InstanceReason
from firebolt_operator.instance.blueprint import Blueprint
from firebolt_operator.instance.decide.credentials import (
    authority_problem,
    external_credentials_problem,
    internal_credentials_problem,
)
from firebolt_operator.instance.decide.failures import PermanentFailure, lost_credentials, other_database
from firebolt_operator.instance.decide.retention import credentials_change, recorded_id
from firebolt_operator.instance.decide.steps import postgres_steps
from firebolt_operator.instance.facts import InstanceFacts, SecretMissing, SecretUnreadable, Volume
from firebolt_operator.instance.plan import Amend, Create, Problem, Stage, Step, Write
from firebolt_operator.instance.views import SecretView

SECRET = "ensuring postgres secret"  # noqa: S105 - words for people


@dataclass(frozen=True, slots=True)
class Proceed:
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    message: str


@dataclass(frozen=True, slots=True)
class Stuck:
    problem: Problem


@dataclass(frozen=True, slots=True)
class Lost:
    failure: PermanentFailure


def decide_postgres(
    instance: FireboltInstance, facts: InstanceFacts, blueprint: Blueprint, new_password: str
) -> Proceed | Wait | Stuck | Lost:
    seen = facts.credentials
    if seen is None:
        raise RuntimeError(f"nobody looked for the credentials of {instance.metadata.name}")
    if instance.spec.metadata.postgres is not None:
        problem = external_credentials_problem(instance, seen) or authority_problem(instance, facts.authority)
        return Proceed(()) if problem is None else Stuck(_preflight_problem(problem))
    match seen:
        case SecretUnreadable(problem):
            return Stuck(_secret_problem(problem))
        case SecretMissing(volume):
            # The Secret first: a database without one could never be told apart from one that lost it.
            steps = (_secret_step(Create(blueprint.credentials(new_password))), *postgres_steps(blueprint, facts))
            failure = lost_credentials(instance) if volume is Volume.PRESENT else None
        case SecretView():
            problem = internal_credentials_problem(seen)
            if problem is not None:
                return Stuck(_secret_problem(problem, needs_person=True))
            volume, failure = facts.volume, _other_database(instance, seen, facts.volume)
            steps = (*_amendment(instance, seen, blueprint), *postgres_steps(blueprint, facts))
    return Lost(failure) if failure else _on_volume(instance, volume, steps)


def _on_volume(instance: FireboltInstance, volume: Volume, steps: tuple[Step, ...]) -> Proceed | Wait | Stuck:
    claim = names.postgres_claim_name(instance.metadata.name)
    if volume is Volume.DELETING:
        # A database of an earlier instance with this name: its volume must be gone, or ours would open it.
        return Wait(f"waiting until PersistentVolumeClaim {claim} is deleted")
    if volume is Volume.FOREIGN:
        return Stuck(_claim_problem(instance, claim))
    return Proceed(steps)


def _other_database(instance: FireboltInstance, secret: SecretView, volume: Volume) -> PermanentFailure | None:
    """Not while a StatefulSet runs the database: then only the Secret trails what a person has accepted."""
    recorded = recorded_id(secret.metadata)
    if volume is not Volume.PRESENT or not recorded or is_same_id(recorded, instance.spec.id):
        return None
    return other_database(instance, recorded)


def _amendment(instance: FireboltInstance, secret: SecretView, blueprint: Blueprint) -> tuple[Step, ...]:
    patch = credentials_change(instance, secret.metadata)
    return () if patch is None else (_secret_step(Amend(blueprint.credentials(""), patch)),)


def _secret_step(write: Write) -> Step:
    return Step(
        doing=SECRET,
        stage=Stage.METADATA_SERVICE,
        reason=InstanceReason.POSTGRES_ENSURE_FAILED,
        write=write,
    )


def _claim_problem(instance: FireboltInstance, claim: str) -> Problem:
    labels = ",".join(
        f"{key}={value}" for key, value in component_labels(instance.metadata.name, names.COMPONENT_POSTGRES).items()
    )
    return Problem(
        stage=Stage.METADATA_SERVICE,
        condition=names.CONDITION_METADATA_READY,
        reason=InstanceReason.POSTGRES_ENSURE_FAILED,
        message=f"PersistentVolumeClaim {instance.metadata.namespace}/{claim} exists, not made for this instance;"
        f" delete it, give the instance another name, or label it {labels} if it holds this instance's database",
        needs_person=True,
    )


def _secret_problem(problem: str, *, needs_person: bool = False) -> Problem:
    return Problem(
        stage=Stage.METADATA_SERVICE,
        condition=names.CONDITION_METADATA_READY,
        reason=InstanceReason.POSTGRES_ENSURE_FAILED,
        message=f"{SECRET}: {problem}",
        needs_person=needs_person,
    )


def _preflight_problem(problem: str) -> Problem:
    return Problem(
        stage=Stage.METADATA_SERVICE,
        condition=names.CONDITION_METADATA_READY,
        reason=InstanceReason.POSTGRES_SECRET_PREFLIGHT_FAILED,
        message=problem,
        clears_metadata_service=True,
    )
