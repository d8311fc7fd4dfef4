"""A server in memory, as far as informers can tell: lists in pages, watches, compaction, restarts."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from firebolt_operator.errors import ExpiredError, ForbiddenError, OperatorError, TransientError
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
    refuses_watches: bool = False
    ends_watches_at_once: set[str] = field(default_factory=set[str])  # in these namespaces
    holds_lists: asyncio.Event | None = None  # lists are taken at once, and answered when it is set
    breaks_next_list: bool = False  # after its first page

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

    def restore(self, version: int, *names: str) -> None:
        """Go back to a backup: watches from a later version hear nothing until that version has come again."""
        self.version = version
        self.log.clear()
        self.objects = {("ns", name): a_body(name, version) for name in names}
        self.cut()

    def _tell(self, namespace: str, event: WatchEvent) -> None:
        self.log.append((self.version, namespace, event))
        self.changed.set()

    def _begin(self, verb: str, scope: Scope) -> None:
        self.requests.append(f"{verb} {scope.namespace}".strip())
        if self.failures:
            raise self.failures.pop(0)

    async def pages(self, scope: Scope, /, *, limit: int = 500) -> AsyncGenerator[Page]:
        self._begin("ask" if limit == 1 else "list", scope)
        taken = [body for key, body in sorted(self.objects.items()) if scope.namespace in {"", key[0]}]
        version = str(self.version)
        if self.holds_lists is not None:
            await self.holds_lists.wait()
        for start in range(0, max(len(taken), 1), limit):
            yield Page(taken[start : start + limit], version)
            await asyncio.sleep(0)
            if self.breaks_next_list:
                self.breaks_next_list = False
                raise TransientError("connection reset")

    async def watch(self, scope: Scope, /, *, resource_version: str) -> AsyncGenerator[WatchEvent]:
        self._begin(f"watch from {resource_version}", scope)
        self.is_cut = False
        if self.refuses_watches:
            raise ForbiddenError("pods is forbidden: cannot watch", status=403)
        if scope.namespace in self.ends_watches_at_once:
            return
        if int(resource_version) < self.compacted:
            raise ExpiredError("too old resource version")
        position = next((n for n, entry in enumerate(self.log) if entry[0] > int(resource_version)), len(self.log))
        while True:
            while position < len(self.log):
                version, namespace, event = self.log[position]
                position += 1
                if version < int(resource_version):
                    continue
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
