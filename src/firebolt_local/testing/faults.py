"""What does a cluster say about a step that did not get there, and what can a person try?"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Protocol

from firebolt_local.cluster.kube_http import has_condition
from firebolt_local.errors import LocalError
from firebolt_operator.api.resources import CORE_EVENTS, FIREBOLT_ENGINES, FIREBOLT_INSTANCES, PODS
from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Resource

_MOST_EVENTS: Final = 8
_MOST_LETTERS: Final = 300
_MOST_SECONDS: Final = 10.0


class StepFailedError(LocalError):
    def __init__(self, step: str, problem: str) -> None:
        super().__init__(f"step {step!r}: {problem}")
        self.step = step
        self.problem = problem


class Lists(Protocol):
    async def list(self, scope: Scope, /) -> list[Manifest]: ...


async def observed(reader: Lists, namespaces: Iterable[str]) -> list[str]:
    """One line for each thing worth knowing; whatever cannot be read is left out."""
    lines = list[str]()
    for namespace in namespaces:
        for resource in (FIREBOLT_INSTANCES, FIREBOLT_ENGINES):
            lines += map(_conditions, await _list(reader, resource, namespace))
        lines += [line for pod in await _list(reader, PODS, namespace) if (line := pod_in_trouble(pod))]
        events = sorted(await _list(reader, CORE_EVENTS, namespace), key=_event_time)
        lines += [event_line(event) for event in events if event.get("type") != "Normal"][-_MOST_EVENTS:]
    return lines


def explanation(step: str, problem: str, seen: Iterable[str], tries: Iterable[str]) -> str:
    lines = [f"step {step!r}: {problem}", "", "What the cluster says:"]
    lines += [f"  {_shortened(line)}" for line in seen] or ["  nothing; it could not be asked"]
    return "\n".join([*lines, "", "What to try:", *(f"  {line}" for line in tries)])


def _shortened(line: str) -> str:
    return line if len(line) <= _MOST_LETTERS else f"{line[:_MOST_LETTERS]}..."


def pod_in_trouble(pod: Manifest) -> str:
    """Empty for a pod that is ready."""
    status = pod.get("status", {})
    if has_condition(pod, "Ready"):
        return ""
    reasons = [_container(each) for each in status.get("containerStatuses", []) if not each.get("ready")]
    if not any(reasons):
        reasons = [
            f"{each.get('reason', '')}: {each['message']}"
            for each in status.get("conditions", [])
            if each.get("message")
        ]
    words = "; ".join(dict.fromkeys(filter(None, reasons)))
    return f"pod {pod['metadata']['name']}: {status.get('phase', 'unknown')}; {words}"


def event_line(event: Manifest) -> str:
    about = event.get("involvedObject", {})
    where = f"{about.get('kind', '?')} {about.get('name', '?')}"
    return f"event {_event_time(event)} {event.get('reason', '')} on {where}: {event.get('message', '').strip()}"


def _conditions(manifest: Manifest) -> str:
    status = manifest.get("status", {})
    words = [
        f"{each['type']}={each['status']} ({each.get('reason', '')}: {each.get('message', '')})"
        for each in status.get("conditions", [])
        if each["status"] != "True"
    ]
    return f"{manifest['kind']} {manifest['metadata']['name']}: {status.get('phase') or 'no phase'}; {'; '.join(words)}"


def _container(status: Manifest) -> str:
    for state, facts in (status.get("state") or {}).items():
        if facts.get("reason"):
            return f"container {status['name']} {state}: {facts['reason']} {facts.get('message', '')}".strip()
    return ""


def _event_time(event: Manifest) -> str:
    time: str = event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp", "")
    return time


async def _list(reader: Lists, resource: Resource, namespace: str) -> list[Manifest]:
    with suppress(OperatorError, TimeoutError):
        async with asyncio.timeout(_MOST_SECONDS):
            return await reader.list(Scope(resource=resource, namespace=namespace))
    return []
