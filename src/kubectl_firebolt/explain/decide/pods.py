"""What is wrong with a pod, in its own words, and what mends it?"""

from typing import Final

from kubectl_firebolt.explain.finding import Finding, blocks, waits
from kubectl_firebolt.explain.seen import Seen, ago, parse_time
from kubectl_firebolt.manifest import Manifest, condition_of, is_deleting, is_true, name_of, status_of

_STARTING: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
_IMAGE: Final = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"})
_CONFIG: Final = frozenset({"CreateContainerConfigError", "CreateContainerError"})
_OUT_OF_MEMORY: Final = "OOMKilled"


def is_ready(pod: Manifest) -> bool:
    return is_true(condition_of(pod, "Ready")) and not is_deleting(pod)


def pod_findings(seen: Seen, pods: list[Manifest]) -> list[Finding]:
    return [found for pod in pods if not is_ready(pod) for found in [_finding(seen, pod)] if found]


def _finding(seen: Seen, pod: Manifest) -> Finding | None:
    if is_deleting(pod):
        return _leaving(seen, pod)
    status = status_of(pod)
    containers: list[Manifest] = [*status.get("initContainerStatuses", []), *status.get("containerStatuses", [])]
    for container in containers:
        found = _container_finding(seen, pod, container)
        if found:
            return found
    return _scheduling(seen, pod) or _probe(seen, pod, containers) or _starting(seen, pod)


def _container_finding(seen: Seen, pod: Manifest, container: Manifest) -> Finding | None:
    state, last = container.get("state") or {}, container.get("lastState") or {}
    waiting = state.get("waiting") or {}
    ended = last.get("terminated") or state.get("terminated") or {}
    reason = str(waiting.get("reason", ""))
    if reason in _STARTING and not (ended.get("exitCode") and not container.get("ready")):
        return None
    words = _sentence(reason or "restarting", waiting.get("message"))
    if ended.get("exitCode"):
        code = f"code {ended['exitCode']}"
        words += f"; last exit {_sentence(ended.get('reason'), code)}"
    what = f"pod {name_of(pod)}, container {container.get('name', '')}: {words}"
    if reason in _IMAGE:
        return blocks(what, _image_fix(container))
    if reason in _CONFIG:
        return blocks(
            what, "create the Secret or ConfigMap (or the key in it) that the message names, or do without it"
        )
    if ended.get("reason") == _OUT_OF_MEMORY:
        return blocks(
            what, f"give container {container.get('name')} more memory: resources of the template or the class"
        )
    return blocks(what, "read what it said last", f"{_logs(seen, pod, container)} --previous")


def _image_fix(container: Manifest) -> str:
    return (
        f"see that image {container.get('image', '')} exists, that nodes can reach its registry, and that"
        " imagePullSecrets of the template allow it; then it is pulled without another word"
    )


def _scheduling(seen: Seen, pod: Manifest) -> Finding | None:
    scheduled = condition_of(pod, "PodScheduled")
    if scheduled is None or scheduled.get("status") != "False":
        return None
    words = _sentence(scheduled.get("reason"), scheduled.get("message"))
    fix = (
        "add nodes or make room, or lower the requests, mend nodeSelector, affinity and tolerations of the template, or"
        " the storage class of its claims"
    )
    return blocks(f"pod {name_of(pod)}: {words}", fix, _describe(seen, pod))


def _probe(seen: Seen, pod: Manifest, containers: list[Manifest]) -> Finding | None:
    unready = next((each for each in containers if each.get("started") and not each.get("ready")), None)
    if unready is None:
        return None
    what = f"pod {name_of(pod)}, container {unready.get('name')}: started, but its readiness probe fails"
    reasons = "object storage it cannot reach, a limit on locked memory, a kernel that is too old"
    return waits(what, f"give it time, or read what it waits for ({reasons})", _logs(seen, pod, unready))


def _starting(seen: Seen, pod: Manifest) -> Finding:
    return waits(f"pod {name_of(pod)} is starting", "give it time, or see what it waits for", _describe(seen, pod))


def _leaving(seen: Seen, pod: Manifest) -> Finding | None:
    """Its grace period is its own business; only what outlives that is told."""
    due_at = parse_time(pod["metadata"]["deletionTimestamp"])
    if due_at is None or due_at >= seen.now:
        return None
    held = ", ".join(pod["metadata"].get("finalizers") or [])
    by = f"finalizer {held} holds it" if held else "its node does not confirm that it has ended"
    what = f"pod {name_of(pod)} should have been gone for {ago(due_at, seen.now)}: {by}"
    fix = "find out whose finalizer that is, and why it stays" if held else "see whether its node is alive"
    return waits(what, fix, _describe(seen, pod))


def _describe(seen: Seen, pod: Manifest) -> str:
    return seen.kubectl("describe", "pod", name_of(pod))


def _logs(seen: Seen, pod: Manifest, container: Manifest) -> str:
    return seen.kubectl("logs", name_of(pod), "-c", str(container.get("name", "")))


def _sentence(reason: object, message: object) -> str:
    return ": ".join(" ".join(str(word).split()) for word in (reason, message) if word)
