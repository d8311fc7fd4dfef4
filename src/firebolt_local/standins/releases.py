"""Which release of the real image does a stand-in play? As its image says; unset, it takes whatever either takes."""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Final

from firebolt_local.standins.strict_files import ConfigError

VARIABLE: Final = "FIREBOLT_STANDIN_RELEASE"
_ULID: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")


class Release(Enum):
    EITHER = ""
    OLD = "old"  # before ids in lower case
    NEW = "new"


def release_of(environment: Mapping[str, str]) -> Release:
    named = environment.get(VARIABLE, "")
    try:
        return Release(named)
    except ValueError as err:
        raise ConfigError(f"{VARIABLE}: {named!r} is neither old nor new") from err


def check_engine_id(instance_id: str, release: Release) -> None:
    """A name that is no ULID is taken by both."""
    if release is Release.NEW and _is_ulid(instance_id) and instance_id != instance_id.lower():
        raise ConfigError(f"instance.id: {instance_id} is not in lower case")


def check_account_id(account: str, release: Release) -> None:
    if release is Release.OLD and _is_ulid(account) and account != account.upper():
        raise ConfigError(f"default_account_id: {account} is not in upper case")


def _is_ulid(text: str) -> bool:
    return _ULID.fullmatch(text.upper()) is not None
