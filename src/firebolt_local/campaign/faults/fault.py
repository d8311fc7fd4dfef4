"""What goes wrong, with which request, as one line says it: `cut-after patch statefulsets 2`, `late=5 watch pods 3`."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from firebolt_local.campaign.faults.requests import RequestKind, RequestName
from firebolt_local.errors import LocalError


class Harm(StrEnum):
    """Nothing here that a real API server, its network or a real node could not show."""

    REFUSE = "refuse"  # 403, as while rights or a quota change
    CONFLICT = "409"
    GONE = "410"
    BUSY = "429"  # with Retry-After
    ERROR = "500"
    UNAVAILABLE = "503"
    DELAY = "delay"  # the server sees it later
    CUT_BEFORE = "cut-before"  # the connection breaks, and the server has not seen it
    CUT_AFTER = "cut-after"  # the server has applied it, and the answer is lost
    KILL_BEFORE = "kill-before"  # the process ends, and the server has not seen it
    KILL_AFTER = "kill-after"  # the server has applied it, and the process ends without the answer
    STOP = "stop"  # the process stands still while the request is on its way, until somebody lets it go on
    LATE = "late"  # this event, and what follows it on its watch
    STALE = "stale"  # this event, and everything on all watches
    CUT = "cut"  # the watch breaks off before the event
    REPLAY = "replay"  # it breaks off, and the next one begins at an older version than was asked for
    EXPIRE = "expire"  # the event is lost: the version is too old, everything must be listed


OF_WATCHES: Final = frozenset({Harm.LATE, Harm.STALE, Harm.CUT, Harm.REPLAY, Harm.EXPIRE})
OF_PROCESSES: Final = frozenset({Harm.KILL_BEFORE, Harm.KILL_AFTER, Harm.STOP})
USUAL_SECONDS: Final = {Harm.BUSY: 1.0, Harm.DELAY: 5.0, Harm.LATE: 5.0, Harm.STALE: 5.0}
_LINE: Final = re.compile(r"(?P<harm>[\w-]+)(=(?P<seconds>\d+(\.\d+)?))? (?P<verb>\w+) (?P<kind>\S+) (?P<nth>\d+)")


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    harm: Harm
    target: RequestName
    seconds: float = 0.0

    def __str__(self) -> str:
        length = f"={self.seconds:g}" if self.seconds else ""
        return f"{self.harm}{length} {self.target}"


def parse_fault(line: str) -> Fault:
    found = _LINE.fullmatch(line.strip())
    if found is None or found["harm"] not in set(Harm):
        names = ", ".join(Harm)
        raise LocalError(f"{line!r} is no fault; write for example 'cut-after patch statefulsets 2'; there are {names}")
    target = RequestName(RequestKind(found["verb"], found["kind"]), int(found["nth"]))
    return fault(Harm(found["harm"]), target, float(found["seconds"] or 0))


def fault(harm: Harm, target: RequestName, seconds: float = 0.0) -> Fault:
    if (harm in OF_WATCHES) != (target.of.verb == "watch"):
        raise LocalError(f"{harm} cannot happen to {target}; events of watches are late, stale, cut, replay, expire")
    return Fault(harm, target, seconds or USUAL_SECONDS.get(harm, 0.0))


def is_possible(harm: Harm, kind: RequestKind) -> bool:
    """Whether an API server could answer so."""
    if harm in OF_WATCHES:
        return kind.verb == "watch"
    if harm is Harm.GONE:
        return kind.verb == "list"  # of a version that was forgotten
    if harm is Harm.CONFLICT:
        return kind.verb in {"update", "patch", "delete"}  # of a create it would say that the object is there
    return kind.verb != "watch"
