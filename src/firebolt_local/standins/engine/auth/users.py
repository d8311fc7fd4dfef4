"""Who is asking, as far as an engine is concerned?"""

from dataclasses import dataclass
from typing import Final

USER_HEADER: Final = "X-Standin-User"
"""Tells a test whom the engine took it for; the closed image has no such header."""
ROLES_HEADER: Final = "X-Standin-Roles"


@dataclass(frozen=True, slots=True)
class User:
    name: str
    roles: tuple[str, ...] = ()
