"""Which signing keys does a generation of an engine hold? Its StatefulSet says so in an annotation."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class HeldKey:
    """By its id and by its public key: a key that was lost and made anew under its old id is another one."""

    id: str
    fingerprint: str

    def __str__(self) -> str:
        return f"{self.id}={self.fingerprint}"


UNKNOWN: Final = HeldKey("?", "")
"""In place of keys that cannot be told: whoever holds it may hold, sign with and refuse anything."""


def format_held_keys(keys: Iterable[HeldKey]) -> str:
    """The one that signs comes first."""
    return ",".join(map(str, keys))


def parse_held_keys(text: str) -> tuple[HeldKey, ...]:
    """Empty for a generation without authentication."""
    parts = (part.partition("=") for part in text.split(",") if part)
    return tuple(HeldKey(id, fingerprint) for id, _, fingerprint in parts)  # noqa: A001 - as the field is named
