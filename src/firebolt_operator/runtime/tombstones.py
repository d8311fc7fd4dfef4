"""Is this news about an object that is known to be gone?"""

from collections.abc import Callable
from typing import Final

from firebolt_operator.runtime.objects import Header, Key

LIMIT: Final = 2_048  # uids remembered: far more than are deleted while a watch lags behind


class Tombstones:
    """Deleted objects by uid, and for each name the version up to which news is old.

    A uid is not forgotten when the watch reports the deletion: an object that lost its label and got it back before we
    deleted it is reported as deleted twice. It cannot come back, so remembering it longer does no harm.
    """

    def __init__(self) -> None:
        self._uids: dict[str, None] = {}
        self._floors: dict[Key, int] = {}

    def hide(self, header: Header) -> bool:
        return header.metadata.uid in self._uids or header.version <= self._floors.get(header.key, 0)

    def bury(self, key: Key, uid: str, version: int) -> None:
        """Hide a deleted object, and whatever had its name before it. Version 0 means that it was never seen."""
        self._uids[uid] = None
        if len(self._uids) > LIMIT:
            del self._uids[next(iter(self._uids))]
        self.sink(key, version)

    def sink(self, key: Key, version: int) -> None:
        """Hide what a name meant up to this version."""
        if version > self._floors.get(key, 0):
            self._floors[key] = version

    def rise(self, version: int, is_part: Callable[[Key], bool]) -> None:
        """All is known up to this version, so nothing older is to come for any name of that part."""
        for key in [key for key, floor in self._floors.items() if floor <= version and is_part(key)]:
            del self._floors[key]
