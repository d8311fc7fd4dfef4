"""What is kubectl asked for? One description, of which the command that runs and the one that is printed are made."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_firebolt.manifest import Manifest

ENGINE: Final = "fireboltengine"
INSTANCE: Final = "fireboltinstance"
ENGINE_CLASS: Final = "fireboltengineclass"
ENGINE_PRESET: Final = "fireboltenginepreset"
CLUSTER_ENGINE_CLASS: Final = "clusterfireboltengineclass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where kubectl is pointed at; what is empty is left to kubectl."""

    namespace: str = ""
    context: str = ""
    kubeconfig: str = ""

    @property
    def global_flags(self) -> tuple[str, ...]:
        given = (("--context", self.context), ("--kubeconfig", self.kubeconfig))
        return tuple(word for flag, value in given if value for word in (flag, value))

    @property
    def namespace_flags(self) -> tuple[str, ...]:
        return ("-n", self.namespace) if self.namespace else ()


@dataclass(frozen=True, slots=True)
class Invocation:
    what: str  # for people
    arguments: tuple[str, ...]  # after the program's name
    stdin: str | None = None

    @property
    def words(self) -> str:
        return shlex.join(("kubectl", *self.arguments))

    @property
    def printed(self) -> str:
        """For a shell, which expands nothing in a quoted here-document."""
        document = "" if self.stdin is None else f" <<'EOF'\n{self.stdin.rstrip()}\nEOF"
        return f"# {self.what}\n{self.words}{document}"


def invocation(target: Target, what: str, verb: str, *rest: str, stdin: str | None = None) -> Invocation:
    """Flags that concern every verb stand before it, the namespace right after it."""
    return Invocation(what, (*target.global_flags, verb, *target.namespace_flags, *rest), stdin)


def apply_(target: Target, what: str, document: str) -> Invocation:
    return invocation(target, f"apply {what}", "apply", "-f", "-", stdin=document)


def wait_for_ready(target: Target, name: str, timeout: str) -> Invocation:
    what = f"wait for {ENGINE}/{name} to become Ready"
    return invocation(target, what, "wait", "--for=condition=Ready", f"{ENGINE}/{name}", f"--timeout={timeout}")


def wait_for_phase(target: Target, name: str, phase: str, timeout: str) -> Invocation:
    what = f"wait for {ENGINE}/{name} to be {phase}"
    jsonpath = f"--for=jsonpath={{.status.phase}}={phase}"
    return invocation(target, what, "wait", jsonpath, f"{ENGINE}/{name}", f"--timeout={timeout}")


def delete(target: Target, name: str) -> Invocation:
    what = f"delete {ENGINE}/{name} (ignore if absent)"
    return invocation(target, what, "delete", ENGINE, name, "--ignore-not-found")


def list_(target: Target, resource: str, *selection: str) -> Invocation:
    return invocation(target, f"list {resource}", "get", resource, *selection, "-o", "json")


def get(target: Target, resource: str, name: str, *flags: str) -> Invocation:
    return invocation(target, f"get {resource}/{name}", "get", resource, name, *flags, "-o", "json")


def watch(target: Target, resource: str, *selection: str) -> Invocation:
    flags = ("--watch", "--output-watch-events", "-o", "json")
    return invocation(target, f"follow {resource}", "get", resource, *selection, *flags)


def scale(target: Target, name: str, replicas: int) -> Invocation:
    what = f"scale {ENGINE}/{name} to {replicas}"
    return invocation(target, what, "scale", f"{ENGINE}/{name}", f"--replicas={replicas}")


def merge_patch(target: Target, what: str, name: str, patch: Manifest) -> Invocation:
    return invocation(target, what, "patch", ENGINE, name, "--type=merge", "-p", json.dumps(patch))


def forward(target: Target, service: str, *, local_port: int, remote_port: int) -> Invocation:
    ports = f"{local_port or ''}:{remote_port}"
    what = f"port-forward to svc/{service} (Ctrl+C to stop)"
    return invocation(target, what, "port-forward", f"svc/{service}", ports)


def describe_hint(target: Target, name: str) -> str:
    words = ("kubectl", *target.global_flags, "describe", f"{ENGINE}/{name}", *target.namespace_flags)
    return f"see what keeps it: {shlex.join(words)}"


def printed(invocations: Sequence[Invocation]) -> str:
    return "\n\n".join(each.printed for each in invocations)
