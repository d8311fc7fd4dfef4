"""A write that the API server asks about, as far as answers depend on it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from firebolt_operator.errors import SpecRejectedError

T = TypeVar("T")
Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRequest:
    uid: str
    operation: Operation
    resource: str  # the plural
    subresource: str
    namespace: str
    name: str  # empty where the server makes one up
    username: str
    new: bytes  # JSON; empty for a deletion
    old: bytes  # JSON; empty for a creation
    is_old_whole: bool = True  # of an object that nobody can decode only the outline is known

    def stored(self, parse: Callable[[bytes], T]) -> T | None:
        """The object before the write; None also for one that the models of today do not read.

        The new one is then judged in full.
        """
        if not self.old or not self.is_old_whole:
            return None
        try:
            return parse(self.old)
        except SpecRejectedError:
            return None
