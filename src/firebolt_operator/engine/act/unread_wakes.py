"""A wake request that nobody can read wakes nobody: said once for each, not at every pass."""

import logging

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.texts import shortened
from firebolt_operator.engine.decide.autostop import parse_wake_request
from firebolt_operator.reconciling.memo import LastValueMemo

log = logging.getLogger("firebolt_operator.engine")


class UnreadWakes:
    """Remembers, for each engine, which one was told of last."""

    def __init__(self) -> None:
        self._told: LastValueMemo[None] = LastValueMemo()

    def tell(self, engine: FireboltEngine) -> None:
        text = engine.metadata.annotations.get(names.ANNOTATION_WAKE_REQUESTED, "")
        if text and parse_wake_request(text) is None:
            self._told.value(engine.metadata.uid, text, lambda: _tell(engine, text))


def _tell(engine: FireboltEngine, text: str) -> None:
    where = {"namespace": engine.metadata.namespace, "engine": engine.metadata.name}
    problem = f"{names.ANNOTATION_WAKE_REQUESTED}: {shortened(text)!r} is no RFC 3339 time with a zone"
    log.warning("wake request ignored", extra={**where, "problem": problem})
