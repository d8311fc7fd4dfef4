"""A server in memory, as far as deletions can tell: reads by name and by label, and deletes with preconditions."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from firebolt_operator.engine.views import Child
from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.ports import Page, Propagation, Scope
from firebolt_operator.refs import Manifest, Ref, Resource


@dataclass
class MemoryServer:
    objects: dict[tuple[Resource, str], Any] = field(default_factory=dict[tuple[Resource, str], Any])
    requests: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    graces: dict[str, int] = field(default_factory=dict[str, int])  # seconds by name, where a delete gave some
    failures: dict[Resource, OperatorError] = field(default_factory=dict[Resource, OperatorError])  # of deletes
    unlisted: dict[Resource, OperatorError] = field(default_factory=dict[Resource, OperatorError])
    read_failures: dict[Resource, OperatorError] = field(default_factory=dict[Resource, OperatorError])

    def put(self, resource: Resource, child: Child) -> None:
        self.objects[resource, child.metadata.name] = child

    async def get(self, ref: Ref, /) -> Manifest | None:
        body = await self.get_raw(ref)
        return None if body is None else msgspec.json.decode(body)

    async def get_raw(self, ref: Ref, /) -> bytes | None:
        self.requests.append(("get", ref.resource.kind, ref.name))
        if ref.resource in self.read_failures:
            raise self.read_failures[ref.resource]
        found = self.objects.get((ref.resource, ref.name))
        return None if found is None else msgspec.json.encode(found)

    async def pages(self, scope: Scope, /, *, limit: int = 500) -> AsyncGenerator[Page]:
        del limit
        if scope.resource in self.unlisted:
            raise self.unlisted[scope.resource]
        wanted = dict(term.split("=") for term in scope.labels.split(","))
        for (resource, _), child in list(self.objects.items()):
            # One object a page, so that nobody gets away with reading only the first.
            if resource == scope.resource and wanted.items() <= child.metadata.labels.items():
                yield Page([msgspec.json.encode(child)], "1")

    async def delete(
        self,
        ref: Ref,
        /,
        *,
        uid: str,
        resource_version: str = "",
        propagation: Propagation | None = None,
        grace_seconds: int | None = None,
    ) -> None:
        del resource_version
        if ref.resource in self.failures:
            raise self.failures[ref.resource]
        if grace_seconds is not None:
            self.graces[ref.name] = grace_seconds
        self.requests.append(("delete", ref.resource.kind, ref.name, uid, propagation or ""))

    @property
    def deleted(self) -> list[tuple[str, ...]]:
        """Kind, name, uid and propagation of each delete."""
        return [request[1:] for request in self.requests if request[0] == "delete"]
