"""What is a request called? By its verb, its kind, and how many of these there were before."""

from collections import Counter
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit

MUTATING: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
BOOKMARK: Final = "/bookmark"
"""Behind the kind of a watch: its bookmarks are counted by themselves."""
BY_THE_CLOCK: Final = frozenset({"leases"})
"""What is written whenever it is time belongs to no chapter."""
UNSAID: Final = BY_THE_CLOCK | {"events"}
"""What is written about objects, or by the clock, is no unrest."""
_WRITES: Final = {"POST": "create", "PUT": "update", "PATCH": "patch"}


@dataclass(frozen=True, slots=True, order=True)
class RequestKind:
    verb: str  # as RBAC says it
    kind: str  # plural, and the subresource behind a slash

    @property
    def is_mutating(self) -> bool:
        return self.verb in MUTATING

    def __str__(self) -> str:
        return f"{self.verb} {self.kind}"


@dataclass(frozen=True, slots=True, order=True)
class RequestName:
    """One request, or one event of a watch, of those that a story gives rise to."""

    of: RequestKind
    nth: int  # from 1

    def __str__(self) -> str:
        return f"{self.of} {self.nth}"


class Naming:
    """Gives out names in the order in which requests come."""

    def __init__(self) -> None:
        self._counts: Counter[RequestKind] = Counter()

    def next(self, kind: RequestKind) -> RequestName:
        self._counts[kind] += 1
        return RequestName(kind, self._counts[kind])


def request_kind(method: str, target: str) -> RequestKind:
    url = urlsplit(target)
    steps = url.path.strip("/").split("/")
    # /api/v1/... and /apis/<group>/<version>/...; anything else is no object (discovery, health)
    rest = steps[2:] if steps[0] == "api" else steps[3:] if steps[0] == "apis" else []
    if not rest:
        return RequestKind(_WRITES.get(method, method.lower()), url.path)
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in {"status", "finalize"}:
        rest = rest[2:]
    plural, name, subresource = rest[0], "".join(rest[1:2]), "".join(rest[2:3])
    kind = f"{plural}/{subresource}" if subresource else plural
    return RequestKind(_verb(method, has_name=bool(name), query=url.query), kind)


def _verb(method: str, *, has_name: bool, query: str) -> str:
    if method in _WRITES:
        return _WRITES[method]
    if method == "DELETE":
        return "delete" if has_name else "deletecollection"
    if parse_qs(query).get("watch", [""])[0] in {"1", "true"}:
        return "watch"
    return "get" if has_name else "list"
