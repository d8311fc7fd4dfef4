"""May the database be made, or relied upon? Its password is minted once and must never be replaced."""

from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import InstanceReason
from firebolt_operator.instance.blueprint import Blueprint
from firebolt_operator.instance.decide.credentials import external_credentials_problem, internal_credentials_problem
from firebolt_operator.instance.decide.failures import PermanentFailure, lost_credentials
from firebolt_operator.instance.decide.steps import postgres_steps
from firebolt_operator.instance.facts import InstanceFacts, SecretMissing, SecretUnreadable, Volume
from firebolt_operator.instance.plan import Create, Problem, Stage, Step
from firebolt_operator.refs import Manifest

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
        problem = external_credentials_problem(instance, seen)
        return Proceed(()) if problem is None else Stuck(_preflight_problem(problem))
    match seen:
        case SecretUnreadable(problem):
            return Stuck(_secret_problem(problem))
        case SecretMissing(volume):
            create = _creation(blueprint.credentials(new_password))
            return _without_credentials(instance, volume, (create, *postgres_steps(blueprint, facts)))
        case _:
            problem = internal_credentials_problem(seen)
            if problem is not None:
                return Stuck(_secret_problem(problem, needs_person=True))
            return Proceed(postgres_steps(blueprint, facts))


def _without_credentials(instance: FireboltInstance, volume: Volume, steps: tuple[Step, ...]) -> Proceed | Wait | Lost:
    if volume is Volume.PRESENT:
        return Lost(lost_credentials(instance))
    if volume is Volume.DELETING:
        # A database of an earlier instance with this name: its volume must be gone, or ours would open it.
        return Wait(
            f"waiting until PersistentVolumeClaim {names.postgres_claim_name(instance.metadata.name)} is deleted"
        )
    return Proceed(steps)


def _creation(credentials: Manifest) -> Step:
    """Comes first: a database without a Secret could never be told apart from one that lost it."""
    return Step(
        doing=SECRET,
        stage=Stage.METADATA_SERVICE,
        reason=InstanceReason.POSTGRES_ENSURE_FAILED,
        write=Create(credentials),
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
