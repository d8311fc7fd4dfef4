"""Runs the operator's own decision on a world, and says what it would write."""

from datetime import datetime, timedelta
from functools import cache
from typing import Final

from firebolt_operator.api.auth import AuthSpec, AuthStatus, SigningKeyStatus
from firebolt_operator.api.names import KEY_PRIVATE_KEY, signing_key_id, signing_key_name
from firebolt_operator.auth.decide import provisioning
from firebolt_operator.auth.facts import AuthSituation, EngineKeys, Fleet, GenerationKeys
from firebolt_operator.auth.held_keys import HeldKey
from firebolt_operator.auth.plan import AuthPlan, AuthWrite, DeleteCertificate, EnsureCertificate
from firebolt_operator.manifests.issued import Issued, IssuedCertificate, IssuedSecret
from tests.model.rotation_world import (
    INTERVAL,
    LIFETIME,
    OLDEST,
    TICK,
    Age,
    Engine,
    Flight,
    Gen,
    Issue,
    Key,
    Status,
    World,
)
from tests.support.auth import an_auth_spec
from tests.support.engines import NOON

INSTANCE: Final = "inst"
LONG_AGO: Final = NOON - timedelta(days=30)


@cache
def _spec(rotates: bool, is_on: bool) -> AuthSpec:
    if not is_on:
        return AuthSpec()
    interval, retain = (_text(INTERVAL), _text(LIFETIME)) if rotates else (None, None)
    return an_auth_spec(interval, retain, max_token_age=_text(LIFETIME), clock_skew_tolerance="0s")


def _text(ticks: int) -> str:
    return f"{int(ticks * TICK.total_seconds())}s"


def decided(world: World) -> Flight | None:
    """What a pass does that begins now; None if it finds nothing to do."""
    plan = _plan(world, world.engines if world.seen is None else world.seen, is_live=world.seen is None)
    if plan.needs_live_fleet:
        plan = _plan(world, world.engines, is_live=True)
    status = _status(plan.status)
    if max(number for _, number in [("", 1), *map(_write, plan.writes)]) > len(world.issues):
        return None  # the world ends here
    writes = tuple(write for write in map(_write, plan.writes) if not _is_done(write, world))
    is_news = status != world.status
    return Flight(writes, status if is_news else None) if writes or is_news else None


def _plan(world: World, engines: tuple[Engine, ...], *, is_live: bool) -> AuthPlan:
    # Of the last key nothing is rotated any more: the world would never end.
    rotates = world.rotates and (world.status.counter < len(world.issues) or len(world.status.keys) > 1)
    fleet = tuple(_engine(f"e{index}", engine) for index, engine in enumerate(engines) if engine.exists)
    return _decide(world.status, world.issues, fleet, (rotates, world.is_on, world.offset, is_live))


@cache
def _decide(
    status: Status,
    issues: tuple[Issue, ...],
    seen: tuple[EngineKeys, ...],
    flags: tuple[bool, bool, int, bool],
) -> AuthPlan:
    rotates, is_on, offset, is_live = flags
    issued = {signing_key_name(INSTANCE, number): _issued(number, issue) for number, issue in enumerate(issues, 1)}
    return provisioning.decide_auth(
        AuthSituation(
            instance=INSTANCE,
            spec=_spec(rotates, is_on),
            status=_auth_status(status),
            now=NOON + offset * TICK,
            fleet=Fleet(engines=seen, is_live=is_live),
            issued=issued,
        )
    )


def forget() -> None:
    """What a sound operator decided says nothing about a broken one."""
    _decide.cache_clear()


def _engine(name: str, engine: Engine) -> EngineKeys:
    return _engine_keys(name, engine.generations, engine.serving is None)


@cache
def _engine_keys(name: str, found: tuple[Gen, ...], is_unborn: bool) -> EngineKeys:
    generations = tuple(
        GenerationKeys(keys=tuple(HeldKey(signing_key_id(n), f"{n}.{m}") for n, m in gen.keys), may_run=gen.is_running)
        for gen in found
    )
    return EngineKeys(name=name, generations=generations, is_unborn=is_unborn)


def _issued(number: int, issue: Issue) -> Issued:
    name = signing_key_name(INSTANCE, number)
    certificate = IssuedCertificate(
        uid=f"c{number}", created_at=LONG_AGO, generation=1, ready_generation=1 if issue.secret else None
    )
    secret = IssuedSecret(
        uid=f"s{number}",
        created_at=LONG_AGO,
        filled=frozenset({KEY_PRIVATE_KEY}),
        issued_for=name,
        public_key=f"{number}.{issue.secret}",
    )
    return Issued(certificate=certificate if issue.has_certificate else None, secret=secret if issue.secret else None)


def _auth_status(status: Status) -> AuthStatus | None:
    if status == Status():
        return None
    return AuthStatus(
        signing_keys=[_entry(key) for key in status.keys],
        signing_key_generation=status.counter,
        pending_rotation_step=status.pending,  # type: ignore[arg-type]
        pending_since=None if status.waiting is None else NOON - status.waiting * TICK,
        lagging_engines=list(status.lagging),
        lagging_engine_count=len(status.lagging),
    )


def _entry(key: Key) -> SigningKeyStatus:
    return SigningKeyStatus(
        id=signing_key_id(key.number),
        secret_name=signing_key_name(INSTANCE, key.number),
        created_at=NOON - key.created * TICK,
        observed_public_key_fingerprint=f"{key.number}.{key.material}",
        algorithm="ECDSA",
        size=384,
        phase=key.phase,  # type: ignore[arg-type]
        demoted_at=NOON if key.is_demoted else None,
        retire_eligible_at=None if key.anchored is None else NOON - key.anchored * TICK,
    )


def _status(status: AuthStatus | None) -> Status:
    if status is None:
        return Status()
    return Status(
        keys=tuple(sorted(_key(key) for key in status.signing_keys)),
        counter=status.signing_key_generation,
        pending=status.pending_rotation_step,
        waiting=_age(status.pending_since),
        lagging=tuple(status.lagging_engines),
    )


def _key(key: SigningKeyStatus) -> Key:
    number = int(key.id.rpartition("-")[2])
    material = int(key.observed_public_key_fingerprint.rpartition(".")[2] or 0)
    created = _age(key.created_at)
    assert created is not None
    return Key(number, key.phase, material, created, key.demoted_at is not None, _age(key.retire_eligible_at))


def _age(at: datetime | None) -> Age:
    return None if at is None else min(round((NOON - at) / TICK), OLDEST)


def _write(write: AuthWrite) -> tuple[str, int]:
    if isinstance(write, EnsureCertificate):
        return "ensure", int(write.key.id.rpartition("-")[2])
    number = write.name.rpartition("-")[2]
    kind = "delete certificate" if isinstance(write, DeleteCertificate) else "delete secret"
    return kind, int(number) if number.isdigit() else 1


def _is_done(write: tuple[str, int], world: World) -> bool:
    kind, number = write
    return kind == "ensure" and world.issues[number - 1].has_certificate
