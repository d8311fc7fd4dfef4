"""Which signing key is which? The role is in its phase alone; the order of the list means nothing."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.auth import AuthStatus, LocalAuthSpec, SigningKeysSpec, SigningKeyStatus
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import SigningKeyPhase
from firebolt_operator.policy.certificate_keys import key_size


def normalised(keys: Sequence[SigningKeyStatus]) -> list[SigningKeyStatus]:
    """Older releases knew one key, and gave it no phase."""
    return [replaced(key, phase=key.phase or SigningKeyPhase.ACTIVE.value) for key in keys]


def active_key(keys: Sequence[SigningKeyStatus]) -> SigningKeyStatus | None:
    return next((key for key in keys if _is_active(key)), None)


def other_key(keys: Sequence[SigningKeyStatus]) -> SigningKeyStatus | None:
    """There is at most one: none is minted before the last has gone."""
    return next((key for key in keys if not _is_active(key)), None)


def is_removing(key: SigningKeyStatus) -> bool:
    """Taken from engines, and deleted when none of them needs it any more."""
    return SigningKeyPhase(key.phase) is SigningKeyPhase.REMOVING


def _is_active(key: SigningKeyStatus) -> bool:
    return SigningKeyPhase(key.phase) is SigningKeyPhase.ACTIVE


def rendered_keys(status: AuthStatus | None) -> tuple[SigningKeyStatus, ...]:
    """What engines get: they sign with the first one and accept what any of them has signed."""
    keys = normalised(status.signing_keys) if status else []
    active, other = active_key(keys), other_key(keys)
    is_shown = other is not None and not is_removing(other)
    return (*((active,) if active else ()), *((other,) if other and is_shown else ()))


def next_key(instance: str, status: AuthStatus | None, asked: SigningKeysSpec, *, now: datetime) -> SigningKeyStatus:
    """The key that would be made now; the same one until it is recorded. Numbers never come back."""
    number = (status.signing_key_generation if status else 0) + 1
    return SigningKeyStatus(
        id=names.signing_key_id(number),
        secret_name=names.signing_key_name(instance, number),
        created_at=now,
        algorithm=asked.cert_manager.algorithm,
        size=key_size(asked.cert_manager),
    )


def secrets_of_interest(instance: FireboltInstance, local: LocalAuthSpec) -> tuple[str, ...]:
    """Names of the keys in use, and of the next one where there may be one."""
    status, asked = instance.status.auth, local.signing_keys
    keys = normalised(status.signing_keys) if status else []
    number = (status.signing_key_generation if status else 0) + 1
    may_come = asked is not None and (active_key(keys) is None or asked.rotation_interval is not None)
    following = (names.signing_key_name(instance.metadata.name, number),) if may_come else ()
    return tuple(dict.fromkeys((*(key.secret_name for key in keys), *following)))


def with_key(keys: Sequence[SigningKeyStatus], changed: SigningKeyStatus) -> list[SigningKeyStatus]:
    return [changed if key.id == changed.id else key for key in keys]


def replaced(key: SigningKeyStatus, **fields: object) -> SigningKeyStatus:
    return msgspec.structs.replace(key, **fields)
