"""What people see with `kubectl describe`: events on the object they concern.

The same warning is sent once, not in every pass: a fleet at rest must write nothing. News are sent by whoever has just
stored what they tell, and are not remembered. Sending is best effort, because a lost event must never fail the work
that it is about, nor keep it waiting: it goes on in the background, a few at a time. A namespace has a memory and rates
of its own, so that the crowd of one tenant neither floods the API server nor makes the warnings of others news again;
and its news take nothing of what its warnings may cost.
"""

import asyncio
import logging
from collections.abc import Coroutine
from datetime import datetime
from typing import Protocol

from firebolt_operator.errors import OperatorError
from firebolt_operator.evidence import spoil
from firebolt_operator.kube.ports import Writer
from firebolt_operator.pace import Pace
from firebolt_operator.refs import Manifest, News, Ref, Warn

MOST_NOTE_BYTES = 1024
MOST_REMEMBERED = 5_000  # warnings of one namespace
BURST = 1_000  # events of one namespace at once
PER_SECOND = 1.0  # and from then on
NEWS_PER_SECOND = 5.0
MOST_AT_ONCE = 4  # so that a server that takes no events keeps few of the places for requests
MOST_UNSENT = 1_000
MOMENT_SECONDS = 0.1  # what a teller waits for; a healthy server answers long before
LIMITED, REFUSED = "limited", "refused"  # why an event is lost: by us, or by the API server

log = logging.getLogger(__name__)


class EventCounter(Protocol):
    def event_lost(self, controller: str, why: str, /) -> None: ...


class _Allowance:
    """What was told of one namespace, and how much may be told now."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], int] = {}  # by object and reason, a hash of what was said
        self.warnings = Pace(per_second=PER_SECOND, burst=BURST)
        self.news = Pace(per_second=NEWS_PER_SECOND, burst=BURST)

    def is_known(self, uid: str, warning: Warn) -> bool:
        return self._told.get((uid, warning.reason)) == hash(warning.note)

    def remember(self, uid: str, warning: Warn) -> None:
        self._told.pop((uid, warning.reason), None)
        if len(self._told) >= MOST_REMEMBERED:
            del self._told[next(iter(self._told))]
        self._told[uid, warning.reason] = hash(warning.note)

    def forget(self, uid: str, reason: str) -> None:
        self._told.pop((uid, reason), None)


class EventSender:
    def __init__(self, writer: Writer, *, controller: str, instance: str, counter: EventCounter | None = None) -> None:
        self._writer = writer
        self._controller = controller
        self._instance = instance  # which process reports
        self._counter = counter
        self._namespaces: dict[str, _Allowance] = {}
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        self._unsent = set[asyncio.Task[object]]()

    async def warn(self, regarding: Ref, uid: str, warning: Warn, *, now: datetime) -> None:
        spoil()  # whether it may be sent depends on what else was
        allowance = self._namespaces.setdefault(regarding.namespace, _Allowance())
        if allowance.is_known(uid, warning) or not self._may_send(regarding, warning, allowance.warnings, now):
            return
        # Before it is sent: passes that come meanwhile need not tell it again.
        allowance.remember(uid, warning)
        await self._hand_over(self._sent_or_forgotten(regarding, uid, warning, now))

    async def tell(self, regarding: Ref, uid: str, news: News, *, now: datetime) -> None:
        spoil()
        allowance = self._namespaces.setdefault(regarding.namespace, _Allowance())
        if self._may_send(regarding, news, allowance.news, now):
            await self._hand_over(self._sent(regarding, uid, news, now))

    def settle(self, namespace: str, uid: str, reason: str) -> None:
        """What was warned of is over: should it happen again, it is news."""
        if namespace in self._namespaces:
            self._namespaces[namespace].forget(uid, reason)

    def _may_send(self, regarding: Ref, told: Warn | News, pace: Pace, now: datetime) -> bool:
        if not pace.is_free(now.timestamp()):
            self._lose(regarding, told, LIMITED, "too many events of this namespace")
            return False
        if len(self._unsent) >= MOST_UNSENT:
            self._lose(regarding, told, LIMITED, "too many events wait for the API server")
            return False
        pace.take(now.timestamp())
        return True

    async def _hand_over(self, sending: Coroutine[None, None, object]) -> None:
        """Nobody waits for more than a moment, and not even that while others wait for an answer already."""
        # No parent waits for it: its teller may end long before an answer comes, and no error can get out of it.
        task = asyncio.create_task(sending)  # noqa: TID251
        self._unsent.add(task)
        task.add_done_callback(self._unsent.discard)
        if len(self._unsent) <= MOST_AT_ONCE:
            await asyncio.wait({task}, timeout=MOMENT_SECONDS)

    async def _sent_or_forgotten(self, regarding: Ref, uid: str, warning: Warn, now: datetime) -> None:
        if not await self._sent(regarding, uid, warning, now):
            self.settle(regarding.namespace, uid, warning.reason)

    async def _sent(self, regarding: Ref, uid: str, told: Warn | News, now: datetime) -> bool:
        try:
            async with self._places:
                await self._writer.create(self._event(regarding, uid, told, now))
        except (OperatorError, RuntimeError) as err:  # the latter of a session that is closed: the process ends
            self._lose(regarding, told, REFUSED, str(err))
            return False
        return True

    def _lose(self, regarding: Ref, told: Warn | News, why: str, error: str) -> None:
        log.warning("event not sent", extra={"object": str(regarding), "reason": told.reason, "error": error})
        if self._counter is not None:
            self._counter.event_lost(self._controller, why)

    def _event(self, regarding: Ref, uid: str, told: Warn | News, now: datetime) -> Manifest:
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"generateName": f"{regarding.name}-", "namespace": regarding.namespace},
            "eventTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "type": "Normal" if isinstance(told, News) else "Warning",
            "reason": told.reason,
            "action": told.action,
            "note": shortened(told.note),
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
