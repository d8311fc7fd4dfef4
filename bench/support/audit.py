"""Which requests did one user send in a span of time? Counted from the API server's own audit log."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

MUTATING: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
LEASES: Final = "leases"
SINCE_LONG_AGO: Final = datetime.fromtimestamp(0, tz=UTC)


class _User(msgspec.Struct):
    username: str = ""


class _Object(msgspec.Struct):
    resource: str = ""
    subresource: str = ""


class _Entry(msgspec.Struct, rename="camel"):
    audit_id: str = msgspec.field(name="auditID")
    verb: str
    request_received_timestamp: datetime
    user: _User
    object_ref: _Object | None = None


_decoder = msgspec.json.Decoder(_Entry)


@dataclass(frozen=True, slots=True)
class Requests:
    """Counts by verb and resource; the Lease, which every leader renews every two seconds, is kept apart."""

    counts: Counter[tuple[str, str]]
    leases: int

    @property
    def total(self) -> int:
        return self.counts.total()

    @property
    def mutating(self) -> int:
        return sum(count for (verb, _), count in self.counts.items() if verb in MUTATING)

    def lines(self, share: int) -> list[str]:
        """Per engine, most frequent first."""
        return [
            f"    {count / share:7.3f}  {verb:<7} {resource}" for (verb, resource), count in self.counts.most_common()
        ]


@dataclass(frozen=True, slots=True)
class AuditLog:
    path: Path
    user: str

    def requests(self, since: datetime, until: datetime) -> Requests:
        """By the time they arrived: a watch counts where it began, however long it lasts."""
        seen: set[str] = set()
        counts: Counter[tuple[str, str]] = Counter()
        leases = 0
        mark = f'"username":"{self.user}"'.encode()
        with self.path.open("rb") as lines:
            for line in lines:
                if mark not in line or not line.endswith(b"\n"):
                    continue
                entry = _decoder.decode(line)
                is_new = entry.audit_id not in seen and since <= entry.request_received_timestamp < until
                if entry.user.username != self.user or not is_new:
                    continue
                seen.add(entry.audit_id)
                name = _name(entry.object_ref)
                if name == LEASES:
                    leases += 1
                else:
                    counts[entry.verb, name] += 1
        return Requests(counts, leases)


def _name(found: _Object | None) -> str:
    if found is None:
        return "-"
    return f"{found.resource}/{found.subresource}" if found.subresource else found.resource
