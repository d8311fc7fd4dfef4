"""Is enough known of a namespace to change anything there?

An object that is missing in a cache may be missing because we may not read it: pods that nobody sees look drained. So
as soon as one cache does not know a namespace, none of its objects gets a pass. Those of all others do.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Protocol

from firebolt_operator.look_again import After
from firebolt_operator.runtime.controller import Outcome, Reconcile
from firebolt_operator.runtime.objects import Key

LOOK_AGAIN: Final = After(timedelta(seconds=10))
REASON: Final = "NamespaceUnknown"

log = logging.getLogger(__name__)


class Knowing(Protocol):
    """An informer."""

    def why_unknown(self, namespace: str) -> str: ...


@dataclass(slots=True)
class KnownNamespaces:
    count: Callable[[str], None]  # told the namespace of every pass that was put off
    informers: list[Knowing] = field(default_factory=list[Knowing])  # of all that a pass may read
    _unknown: set[str] = field(default_factory=set[str])

    def guard(self, reconcile: Reconcile[Key]) -> Reconcile[Key]:
        async def guarded(key: Key) -> Outcome:
            if not self.is_known(key[0]):
                self.count(key[0])
                return Outcome(REASON, LOOK_AGAIN)
            return await reconcile(key)

        return guarded

    def is_known(self, namespace: str) -> bool:
        why = next(filter(None, (informer.why_unknown(namespace) for informer in self.informers)), "")
        if why and namespace not in self._unknown:
            fields = {"namespace": namespace, "error": why}
            log.error("nothing is changed in a namespace that cannot be read", extra=fields)
            self._unknown.add(namespace)
        elif not why and namespace in self._unknown:
            log.info("namespace can be read again", extra={"namespace": namespace})
            self._unknown.discard(namespace)
        return not why
