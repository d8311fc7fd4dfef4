"""Which Secrets does the operator mount into a container, and where?"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretMount:
    volume: str
    secret: str
    path: str
    keys: tuple[str, ...] = ()  # empty means all of them
