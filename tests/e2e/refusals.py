"""Does the operator lack a right? The API server wrote down what it answered."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from firebolt_local.testing.installer import NAMESPACE, RELEASE

OPERATOR: Final = f"system:serviceaccount:{NAMESPACE}:{RELEASE}"


def missing_rights(lines: Iterable[str]) -> list[str]:
    """What it was refused, and never allowed.

    A right that is missing is refused every time. One that is there is refused as well by an API server that has just
    started, to everybody, and to a pod that Helm has taken the rights from before it is gone.
    """
    told: dict[str, set[str]] = {"allow": set(), "forbid": set()}
    for event in _of_the_operator(lines):
        # By its rights; what an admission says no to has the same status.
        decision = event.get("annotations", {}).get("authorization.k8s.io/decision")
        told.setdefault(decision, set()).add(_right(event))
    return sorted(told["forbid"] - told["allow"])


def missing_rights_in(log: Path, since: int) -> list[str]:
    with log.open(errors="replace") as lines:
        lines.seek(since)
        return missing_rights(lines)


def _right(event: dict[str, Any]) -> str:
    what = event.get("objectRef", {})
    resource = "/".join(filter(None, (what.get("apiGroup"), what.get("resource"), what.get("subresource"))))
    return f"{event['verb']} {resource or event['requestURI']}"


def _of_the_operator(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue  # an API server that was killed left half a line
        if event.get("user", {}).get("username") == OPERATOR:
            yield event
