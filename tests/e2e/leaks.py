"""What is there on the whole cluster, of every kind that it knows? Two looks, before and after, tell what was left."""

from dataclasses import dataclass

from tests.e2e.environment import Environment
from tests.support.workloads import eventually

# Records of what happened, and heartbeats: nobody owns them, Kubernetes itself removes them in time.
PASSING = frozenset({"events", "events.events.k8s.io", "leases.coordination.k8s.io"})
_COLUMNS = "custom-columns=K:.kind,N:.metadata.namespace,M:.metadata.name,U:.metadata.uid"


@dataclass(frozen=True, slots=True)
class Inventory:
    kinds: int  # how many kinds were asked for
    objects: frozenset[str]  # kind, namespace, name and uid


def inventory(environment: Environment) -> Inventory:
    kinds = sorted(set(environment.kubectl("api-resources", "--verbs=list", "--output=name").split()) - PASSING)
    listed = environment.kubectl("get", ",".join(kinds), "--all-namespaces", f"--output={_COLUMNS}", "--no-headers")
    return Inventory(len(kinds), frozenset(" ".join(line.split()) for line in listed.splitlines() if line.strip()))


def assert_nothing_left(environment: Environment, before: Inventory) -> Inventory:
    """The garbage collector has its own pace; what is left in the end is a leak."""
    latest = [before]

    def is_clean() -> bool:
        latest[0] = inventory(environment)
        return latest[0].objects <= before.objects

    try:
        eventually(is_clean, seconds=90)
    except AssertionError as err:
        raise AssertionError(f"left behind: {sorted(latest[0].objects - before.objects)}") from err
    return latest[0]
