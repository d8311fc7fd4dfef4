"""When did what happen to the engines of a namespace, as one outsider saw it? A process of its own, next to the load.

    python -m bench.support.watcher KUBECONFIG NAMESPACE

Answers one line of JSON for each line it is sent: see `Question`. Times are of the monotonic clock, which all processes
of a machine share.
"""

import asyncio
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

import msgspec
import uvloop

from firebolt_operator.api.names import CONDITION_RECONCILING, LABEL_ENGINE, LABEL_GENERATION
from firebolt_operator.api.resources import FIREBOLT_ENGINES, PODS, SERVICES
from firebolt_operator.errors import ExpiredError, TransientError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.ports import Scope

Generation = tuple[str, int]
"""Engine and number."""
PODS_PER_ENGINE: Final = 2
SERVICE_SUFFIX: Final = "-service"


class Question(msgspec.Struct, frozen=True):
    """Answered when `count` engines have the generation: at rest, or (for `pods`) with all of its pods ready."""

    until: str  # "rest" | "pods" | "report": the latter at once
    count: int = 0
    generation: int = 0


class Answer(msgspec.Struct, frozen=True):
    at: float
    delays: dict[str, float] = {}  # seconds from the last pod ready to the selector written, by engine


class _Meta(msgspec.Struct):
    name: str = ""
    labels: dict[str, str] = {}
    generation: int = 0
    resource_version: str = msgspec.field(default="", name="resourceVersion")


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _Status(msgspec.Struct, rename="camel"):
    conditions: list[_Condition] = []
    phase: str = ""
    observed_generation: int = 0
    active_generation: int = -1
    ready_replicas: int = 0


class _Spec(msgspec.Struct):
    selector: dict[str, str] | None = None
    replicas: int = 0


class _Object(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_decoder = msgspec.json.Decoder(_Object)


@dataclass(slots=True)
class Watcher:
    ready_at: dict[Generation, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    switched_at: dict[Generation, float] = field(default_factory=dict[Generation, float])
    resting: dict[str, int] = field(default_factory=dict[str, int])  # the generation that an engine rests on
    at_rest: Counter[int] = field(default_factory=Counter[int])  # how many engines, by generation
    ready: Counter[int] = field(default_factory=Counter[int])  # engines all of whose pods are ready, by generation
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def pod(self, seen: _Object) -> None:
        if any(each.type == "Ready" and each.status == "True" for each in seen.status.conditions):
            labels = seen.metadata.labels
            key = (labels.get(LABEL_ENGINE, ""), int(labels.get(LABEL_GENERATION, "-1")))
            pods = self.ready_at[key]
            # Counted as they come: looking at all engines with every event would cost more than the operator does.
            self.ready[key[1]] += seen.metadata.name not in pods and len(pods) + 1 == PODS_PER_ENGINE
            pods.setdefault(seen.metadata.name, time.monotonic())

    def service(self, seen: _Object) -> None:
        selector = seen.spec.selector or {}
        if seen.metadata.name.endswith(SERVICE_SUFFIX) and LABEL_GENERATION in selector:
            key = (selector.get(LABEL_ENGINE, ""), int(selector[LABEL_GENERATION]))
            self.switched_at.setdefault(key, time.monotonic())

    def engine(self, seen: _Object) -> None:
        status, metadata = seen.status, seen.metadata
        is_resting = (
            status.phase == "stable"
            and status.observed_generation == metadata.generation
            and status.ready_replicas == seen.spec.replicas
            and not any(each.type == CONDITION_RECONCILING for each in status.conditions)
        )
        before = self.resting.pop(metadata.name, None)
        if before is not None:
            self.at_rest[before] -= 1
        if is_resting:
            self.resting[metadata.name] = status.active_generation
            self.at_rest[status.active_generation] += 1

    async def answer(self, question: Question) -> Answer:
        if question.until == "report":
            return Answer(time.monotonic(), self._delays(question.generation))
        while self._count(question) < question.count:
            self.changed.clear()
            await self.changed.wait()
        return Answer(time.monotonic())

    def _count(self, question: Question) -> int:
        if question.until == "rest":
            return sum(count for generation, count in self.at_rest.items() if generation >= question.generation)
        return self.ready[question.generation]

    def _delays(self, generation: int) -> dict[str, float]:
        return {
            key[0]: self.switched_at[key] - max(pods.values())
            for key, pods in self.ready_at.items()
            if key[1] == generation and key in self.switched_at
        }


async def follow(client: KubeClient, scope: Scope, watcher: Watcher, take: Callable[[_Object], None]) -> None:
    version = ""
    while True:
        try:
            version = version or await _listed(client, scope, take)
            async with aclosing(client.watch(scope, resource_version=version)) as events:
                async for event in events:
                    seen = _decoder.decode(event.body)
                    version = seen.metadata.resource_version
                    if event.type in {"ADDED", "MODIFIED"}:
                        take(seen)
                        watcher.changed.set()
        except ExpiredError:
            version = ""
        except TransientError:
            await asyncio.sleep(0.1)


async def _listed(client: KubeClient, scope: Scope, take: Callable[[_Object], None]) -> str:
    version = ""
    async with aclosing(client.pages(scope)) as pages:
        async for page in pages:
            version = page.resource_version
            for body in page.items:
                take(_decoder.decode(body))
    return version


async def run(kubeconfig: str, namespace: str) -> None:
    watcher = Watcher()
    takers = ((PODS, watcher.pod), (SERVICES, watcher.service), (FIREBOLT_ENGINES, watcher.engine))
    async with KubeClient.from_credentials(load_credentials(kubeconfig, {})) as client, asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(follow(client, Scope(resource=resource, namespace=namespace), watcher, take))
            for resource, take in takers
        ]
        while line := await asyncio.to_thread(sys.stdin.buffer.readline):
            answer = await watcher.answer(msgspec.json.decode(line, type=Question))
            sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
            sys.stdout.buffer.flush()
        for task in tasks:
            task.cancel()


if __name__ == "__main__":
    uvloop.run(run(*sys.argv[1:]))
