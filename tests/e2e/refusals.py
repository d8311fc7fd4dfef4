"""Was the operator ever refused something? The API server wrote down what it answered."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from firebolt_local.testing.installer import NAMESPACE, RELEASE

OPERATOR: Final = f"system:serviceaccount:{NAMESPACE}:{RELEASE}"
_BINDINGS: Final = frozenset({"clusterrolebindings", "rolebindings"})


def refusals(lines: Iterable[str]) -> list[str]:
    """What its rights did not cover while it had any: Helm takes them away before the pod is gone."""
    told, lost = list[str](), set[tuple[str, str]]()
    for event in _events(lines):
        what = event.get("objectRef", {})
        binding = (str(what.get("resource")), str(what.get("name")))
        if binding[0] in _BINDINGS and binding[1].startswith(RELEASE):
            _note(event["verb"], binding, lost)
        elif not lost and _is_refused(event):
            told.append(f"{event['stageTimestamp']} {event['verb']} {event['requestURI']}")
    return told


def refusals_in(log: Path, since: int) -> list[str]:
    with log.open(errors="replace") as lines:
        lines.seek(since)
        return refusals(lines)


def _note(verb: str, binding: tuple[str, str], lost: set[tuple[str, str]]) -> None:
    if verb == "delete":
        lost.add(binding)
    elif verb == "create":
        lost.discard(binding)


def _is_refused(event: dict[str, Any]) -> bool:
    """By its rights; what an admission says no to has the same status."""
    decision = event.get("annotations", {}).get("authorization.k8s.io/decision")
    return (event.get("user", {}).get("username"), decision) == (OPERATOR, "forbid")


def _events(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            continue  # an API server that was killed left half a line
