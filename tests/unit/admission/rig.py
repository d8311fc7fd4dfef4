"""The admission server, asked over HTTP as the API server asks it; what it reads of other objects is in memory."""

import base64
import io
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Self

import aiohttp
import msgspec

from firebolt_operator.admission.classes import guarded_admissions
from firebolt_operator.admission.engines import EngineAdmission
from firebolt_operator.admission.instances import InstanceAdmission
from firebolt_operator.admission.lookups import Lookups
from firebolt_operator.admission.server import DEADLINE_SECONDS, admission_app
from firebolt_operator.admission.webhooks import webhooks
from firebolt_operator.api.names import GROUP, VERSION
from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.ports import Page, Scope
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.servers import BindAddress, HttpServer

NEW_ID = "01JZZZZZZZZZZZZZZZZZZZZZZZ"
PEOPLE = "alice"
WATCHED = {"team": "ours"}


@dataclass
class MemoryReader:
    """Bodies by (plural, namespace, name); one object to a page."""

    bodies: dict[tuple[str, str, str], bytes] = field(default_factory=dict[tuple[str, str, str], bytes])
    failure: OperatorError | None = None
    failures: dict[str, OperatorError] = field(default_factory=dict[str, OperatorError])  # by plural
    requests: list[str] = field(default_factory=list[str])

    def put(self, plural: str, name: str, namespace: str = "ns", **document: Any) -> None:
        metadata = {"name": name, "namespace": namespace, **document.pop("metadata", {})}
        self.bodies[plural, namespace, name] = json.dumps({"metadata": metadata, **document}).encode()

    async def get_raw(self, ref: Ref, /) -> bytes | None:
        self.requests.append(f"get {ref}")
        failure = self.failure or self.failures.get(ref.resource.plural)
        if failure:
            raise failure
        return self.bodies.get((ref.resource.plural, ref.namespace, ref.name))

    async def list(self, scope: Scope, /) -> list[Manifest]:
        return [msgspec.json.decode(item) async for page in self.pages(scope) for item in page.items]

    async def pages(self, scope: Scope, /, *, limit: int = 500) -> AsyncGenerator[Page]:
        del limit
        self.requests.append(f"list {scope}")
        if self.failure:
            raise self.failure
        for (plural, namespace, name), body in sorted(self.bodies.items()):
            is_named = scope.fields in ("", f"metadata.name={name}")
            if plural == scope.resource.plural and scope.namespace in ("", namespace) and is_named:
                yield Page([body], "1")


@dataclass
class Notes:
    ended_with: list[int] = field(default_factory=list[int])
    under_way: int = 0

    def began(self, _webhook: str, /) -> None:
        self.under_way += 1

    def ended(self, _webhook: str, code: int, _seconds: float, /) -> None:
        self.under_way -= 1
        self.ended_with.append(code)


@dataclass
class Rig:
    reader: MemoryReader = field(default_factory=MemoryReader)
    bounds: ResourceBounds = field(default_factory=ResourceBounds)
    notes: Notes = field(default_factory=Notes)
    deadline_seconds: float = DEADLINE_SECONDS
    port: int = 0

    async def __aenter__(self) -> Self:
        reader: Any = self.reader
        asked = webhooks(
            EngineAdmission(Lookups(reader), self.bounds),
            guarded_admissions(reader, self.bounds, lambda _namespace, labels: labels == WATCHED),
            InstanceAdmission(Lookups(reader), "ns/operator", lambda _template: NEW_ID),
        )
        app = admission_app(asked, self.notes, SystemClock(), self.deadline_seconds)
        self._server = HttpServer("admission", app, BindAddress("127.0.0.1", 0))
        await self._server.start()
        self.port = self._server.port
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.stop()

    async def post(self, path: str, body: bytes, content_type: str = "application/json") -> tuple[int, Manifest]:
        async with aiohttp.ClientSession() as session:
            headers = {"Content-Type": content_type}
            async with session.post(
                f"http://127.0.0.1:{self.port}{path}", data=io.BytesIO(body), headers=headers
            ) as answer:
                return answer.status, await answer.json()

    async def ask(self, purpose: str, kind: str, review: Manifest | bytes) -> Manifest:
        """The response, which always comes with HTTP 200 and names what was asked."""
        body = review if isinstance(review, bytes) else json.dumps(review).encode()
        status, document = await self.post(path_of(purpose, kind), body)
        assert (status, document["apiVersion"], document["kind"]) == (200, "admission.k8s.io/v1", "AdmissionReview")
        assert document["response"]["uid"] == "asked"
        return dict(document["response"])


def path_of(purpose: str, kind: str) -> str:
    return f"/{purpose}-{GROUP.replace('.', '-')}-{VERSION}-{kind}"


def a_review(
    plural: str, operation: str, new: Manifest | None, old: Manifest | None = None, **request: Any
) -> Manifest:
    document: Manifest = {
        "uid": "asked",
        "kind": {"group": GROUP, "version": VERSION, "kind": "Any"},
        "resource": {"group": GROUP, "version": VERSION, "resource": plural},
        "operation": operation,
        "namespace": "ns",
        "name": "it",
        "userInfo": {"username": PEOPLE, "groups": ["system:authenticated"]},
        "object": new,
        "oldObject": old,
        "dryRun": False,
        **request,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": document}


def an_engine(*, metadata: Manifest | None = None, **spec: Any) -> Manifest:
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "FireboltEngine",
        "metadata": {"name": "it", "namespace": "ns", **(metadata or {})},
        "spec": {"instanceRef": "inst", "replicas": 1, **spec},
    }


def a_class(*, metadata: Manifest | None = None, **spec: Any) -> Manifest:
    return {"metadata": {"name": "it", "namespace": "ns", **(metadata or {})}, "spec": {"template": {}, **spec}}


def an_instance(**spec: Any) -> Manifest:
    return {"metadata": {"name": "it", "namespace": "ns"}, "spec": {"metadata": {}, "gateway": {}, **spec}}


def patch_of(response: Manifest) -> list[Manifest]:
    if "patch" not in response:
        return []
    assert response["patchType"] == "JSONPatch"
    return list(json.loads(base64.b64decode(response["patch"])))


def message(response: Manifest) -> str:
    assert response["allowed"] is False
    return str(response["status"]["message"])
