"""Warnings that people see with `kubectl describe`: events on the object they concern.

The same warning is sent once, not in every pass: a fleet at rest must write nothing. Sending is best effort, because a
lost event must never fail the work that it is about.
"""

import logging
from datetime import datetime
from typing import Protocol

from firebolt_operator.errors import FencedError, OperatorError
from firebolt_operator.kube.ports import Writer
from firebolt_operator.refs import Manifest, Ref, Warn

MOST_NOTE_BYTES = 1024
MOST_REMEMBERED = 10_000

log = logging.getLogger(__name__)


class EventCounter(Protocol):
    def event_lost(self, controller: str, /) -> None: ...


class EventSender:
    def __init__(self, writer: Writer, *, controller: str, instance: str, counter: EventCounter | None = None) -> None:
        self._writer = writer
        self._controller = controller
        self._instance = instance  # which process reports
        self._counter = counter
        self._sent: dict[tuple[str, str], str] = {}

    async def warn(self, regarding: Ref, uid: str, warning: Warn, *, now: datetime) -> None:
        if self._sent.get((uid, warning.reason)) == warning.note:
            return
        try:
            await self._writer.create(self._event(regarding, uid, warning, now))
        except FencedError:
            raise
        except OperatorError as err:
            log.warning("event not sent", extra={"object": str(regarding), "reason": warning.reason, "error": str(err)})
            if self._counter is not None:
                self._counter.event_lost(self._controller)
            return
        self._remember(uid, warning)

    def settle(self, uid: str, reason: str) -> None:
        """What was warned of is over: should it happen again, it is news."""
        self._sent.pop((uid, reason), None)

    def _remember(self, uid: str, warning: Warn) -> None:
        if len(self._sent) >= MOST_REMEMBERED:
            self._sent.pop(next(iter(self._sent)))
        self._sent[uid, warning.reason] = warning.note

    def _event(self, regarding: Ref, uid: str, warning: Warn, now: datetime) -> Manifest:
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"generateName": f"{regarding.name}-", "namespace": regarding.namespace},
            "eventTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "type": "Warning",
            "reason": warning.reason,
            "action": warning.action,
            "note": shortened(warning.note),
            "regarding": {
                "apiVersion": regarding.resource.api_version,
                "kind": regarding.resource.kind,
                "namespace": regarding.namespace,
                "name": regarding.name,
                "uid": uid,
            },
            "reportingController": self._controller,
            "reportingInstance": self._instance,
        }


def shortened(note: str) -> str:
    """The API takes 1024 bytes; cut between characters, not through one."""
    raw = note.encode()
    if len(raw) <= MOST_NOTE_BYTES:
        return note
    return raw[: MOST_NOTE_BYTES - 3].decode(errors="ignore") + "..."
