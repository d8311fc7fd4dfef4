"""Which requests did one user send in a span of time? Counted from the API server's own audit log."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from bench.support.report import percentile

MUTATING: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
LEASES: Final = "leases"
SINCE_LONG_AGO: Final = datetime.fromtimestamp(0, tz=UTC)
_SUCCESS: Final = range(200, 300)


class _User(msgspec.Struct):
    username: str = ""


class _Object(msgspec.Struct):
    resource: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


class _Answer(msgspec.Struct):
    code: int = 0


class Request(msgspec.Struct, rename="camel"):
    audit_id: str = msgspec.field(name="auditID")
    verb: str
    request_received_timestamp: datetime
    stage_timestamp: datetime  # when it was answered
    user: _User
    object_ref: _Object | None = None
    response_status: _Answer | None = None

    @property
    def resource(self) -> str:
        return "-" if self.object_ref is None else str(self.object_ref)

    @property
    def is_write(self) -> bool:
        return self.verb in MUTATING

    @property
    def has_succeeded(self) -> bool:
        return self.response_status is not None and self.response_status.code in _SUCCESS

    @property
    def seconds(self) -> float:
        return (self.stage_timestamp - self.request_received_timestamp).total_seconds()


_decoder = msgspec.json.Decoder(Request)


@dataclass(frozen=True, slots=True)
class Requests:
    """Counts by verb and resource; the Lease, which every leader renews every two seconds, is kept apart."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    leases: int = 0
    write_seconds: tuple[float, ...] = ()  # ascending; from a write's arrival to its answer, as the server tells it

    @property
    def total(self) -> int:
        return self.counts.total()

    @property
    def mutating(self) -> int:
        return sum(count for (verb, _), count in self.counts.items() if verb in MUTATING)

    @property
    def median_write(self) -> float:
        """Seconds."""
        return percentile(self.write_seconds, 0.5)

    def lines(self, share: int) -> list[str]:
        """Per engine, most frequent first."""
        return [
            f"    {count / share:7.3f}  {verb:<7} {resource}" for (verb, resource), count in self.counts.most_common()
        ]


@dataclass(frozen=True, slots=True)
class AuditLog:
    path: Path
    user: str

    def size(self) -> int:
        return self.path.stat().st_size

    def requests(self, since: datetime, until: datetime, *, begin: int = 0) -> Requests:
        """By the time they arrived: a watch counts where it began, however long it lasts."""
        counts: Counter[tuple[str, str]] = Counter()
        leases, writes = 0, list[float]()
        for request in self.entries(since, until, begin=begin):
            if request.resource == LEASES:
                leases += 1
                continue
            counts[request.verb, request.resource] += 1
            if request.is_write:
                writes.append(request.seconds)
        return Requests(counts, leases, tuple(sorted(writes)))

    def entries(self, since: datetime, until: datetime, *, begin: int = 0) -> Iterator[Request]:
        """Each request once, as it was logged first; `begin` is what `size` said before the first of them."""
        seen: set[str] = set()
        mark = f'"username":"{self.user}"'.encode()
        with self.path.open("rb") as lines:
            lines.seek(begin)
            for line in lines:
                if mark not in line or not line.endswith(b"\n"):
                    continue
                request = _decoder.decode(line)
                is_new = request.audit_id not in seen and since <= request.request_received_timestamp < until
                if request.user.username == self.user and is_new:
                    seen.add(request.audit_id)
                    yield request
