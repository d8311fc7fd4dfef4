"""A server in memory, as far as informers can tell: lists in pages, watches, compaction, restarts."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from firebolt_operator.errors import ExpiredError, OperatorError, TransientError
from firebolt_operator.kube.ports import Page, Scope, WatchEvent
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.unit.runtime.builders import a_body, a_bookmark, an_event


@dataclass
class MemoryReader:
    version: int = 10
    objects: dict[tuple[str, str], bytes] = field(default_factory=dict[tuple[str, str], bytes])
    log: list[tuple[int, str, WatchEvent]] = field(default_factory=list[tuple[int, str, WatchEvent]])
    compacted: int = 0
    failures: list[OperatorError] = field(default_factory=list[OperatorError])  # raised by the next requests
    requests: list[str] = field(default_factory=list[str])
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    is_cut: bool = False

    def put(self, name: str, namespace: str = "ns") -> int:
        self.version += 1
        body = a_body(name, self.version, namespace=namespace)
        is_known = (namespace, name) in self.objects
        self.objects[namespace, name] = body
        self._tell(namespace, an_event("MODIFIED" if is_known else "ADDED", body))
        return self.version

    def remove(self, name: str, namespace: str = "ns") -> None:
        self.version += 1
        del self.objects[namespace, name]
        self._tell(namespace, an_event("DELETED", a_body(name, self.version, namespace=namespace)))

    def bookmark(self) -> None:
        self._tell("", a_bookmark(self.version))

    def cut(self) -> None:
        """End all watches, as a restart does."""
        self.is_cut = True
        self.changed.set()

    def _tell(self, namespace: str, event: WatchEvent) -> None:
        self.log.append((self.version, namespace, event))
        self.changed.set()

    def _begin(self, verb: str, scope: Scope) -> None:
        self.requests.append(f"{verb} {scope.namespace}".strip())
        if self.failures:
            raise self.failures.pop(0)

    async def pages(self, scope: Scope, /, *, limit: int = 500) -> AsyncGenerator[Page]:
        self._begin("list", scope)
        taken = [body for key, body in sorted(self.objects.items()) if scope.namespace in {"", key[0]}]
        version = str(self.version)
        for start in range(0, max(len(taken), 1), limit):
            yield Page(taken[start : start + limit], version)
            await asyncio.sleep(0)

    async def watch(self, scope: Scope, /, *, resource_version: str) -> AsyncGenerator[WatchEvent]:
        self._begin(f"watch from {resource_version}", scope)
        self.is_cut = False
        if int(resource_version) < self.compacted:
            raise ExpiredError("too old resource version")
        position = next((n for n, entry in enumerate(self.log) if entry[0] > int(resource_version)), len(self.log))
        while True:
            while position < len(self.log):
                _, namespace, event = self.log[position]
                position += 1
                if scope.namespace in {"", namespace} or event.type == "BOOKMARK":
                    yield event
            self.changed.clear()
            await self.changed.wait()
            if self.is_cut:
                raise TransientError("connection reset")

    async def get(self, ref: Ref, /) -> Manifest | None:
        raise NotImplementedError

    async def get_raw(self, ref: Ref, /) -> bytes | None:
        return self.objects.get((ref.namespace, ref.name))

    async def list(self, scope: Scope, /) -> list[Manifest]:
        raise NotImplementedError

    async def pod_proxy_get(self, pod: Ref, port: int, path: str, /, *, timeout: float = 10.0) -> bytes:  # noqa: ASYNC109
        raise NotImplementedError

    async def resources(self, api_version: str, /) -> tuple[Resource, ...]:
        raise NotImplementedError
