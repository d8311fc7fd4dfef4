"""A server that misbehaves on purpose: every request meets the next step of a script, the last step for ever."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import pytest

from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import Credentials
from firebolt_operator.kube.identity import FixedIdentity, Identity
from firebolt_operator.kube.ports import Fence, RequestRecorder, WriteObserver
from firebolt_operator.kube.tls import ClientTls, Trust
from firebolt_operator.refs import Manifest, Ref, Resource

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
PODS = Resource("", "v1", "pods", "Pod")
_UNUSED_TLS = ClientTls(Trust(authorities=None))  # this server speaks plain HTTP
SETTINGS = Ref(CONFIG_MAPS, "shop", "settings")


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Step = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


class WireServer:
    """Speaks just enough HTTP/1.1 over loopback."""

    def __init__(self, *steps: Step, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._steps = list(steps)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.requests: list[Request] = []
        self.connections = 0
        self.peers: list[dict[str, object] | None] = []  # client certificates, as the ssl module shows them
        self.arrived = asyncio.Event()

    @property
    def url(self) -> str:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.peers.append(writer.get_extra_info("peercert"))
        self._writers.add(writer)
        try:
            while not writer.is_closing():
                request = await _read_request(reader)
                self.requests.append(request)
                self.arrived.set()
                step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
                await step(request, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            self._writers.discard(writer)
            writer.close()


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target, headers, body)


def answer(code: int, body: object = None, **headers: str) -> Step:
    content = body if isinstance(body, bytes) else json.dumps(body if body is not None else {}).encode()
    lines = [f"HTTP/1.1 {code} X", f"Content-Length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return raw("\r\n".join(lines).encode() + b"\r\n\r\n" + content)


def raw(content: bytes, *, closes: bool = False) -> Step:
    async def step(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()
        if closes:
            writer.close()

    return step


def chunks(*parts: bytes) -> Step:
    """A chunked answer, one TCP segment for each part."""

    async def step(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for part in parts:
            writer.write(b"%x\r\n%b\r\n" % (len(part), part))
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    return step


async def reset(_: Request, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def silence(_: Request, writer: asyncio.StreamWriter) -> None:
    """Takes the request and never answers; ends when the client does."""
    await writer.wait_closed()


def held_back(until: asyncio.Event, then: Step) -> Step:
    async def step(request: Request, writer: asyncio.StreamWriter) -> None:
        await until.wait()
        await then(request, writer)

    return step


def status(code: int, reason: str, message: str) -> Manifest:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }


def a_config_map(name: str = "settings", **fields: object) -> Manifest:
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **fields}


def a_lease(**spec: object) -> Manifest:
    metadata = {"name": "leader", "namespace": "shop"}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def a_pod(name: str = "web-0") -> Ref:
    return Ref(PODS, "shop", name)


Write = Callable[[KubeClient], Awaitable[object]]


_WRITES: dict[str, Write] = {
    "apply": lambda client: client.apply(a_config_map()),
    "create": lambda client: client.create(a_config_map()),
    "merge_patch": lambda client: client.merge_patch(SETTINGS, {"data": {}}),
    "update_status": lambda client: client.update_status(a_config_map()),
    "replace": lambda client: client.replace(a_config_map()),
    "delete": lambda client: client.delete(SETTINGS, uid="u"),
}
WRITES = [pytest.param(write, id=name) for name, write in _WRITES.items()]


@dataclass(slots=True)
class SpokenObserver:
    """Remembers what it was told, in order."""

    heard: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])

    def written(self, ref: Ref, body: bytes, /) -> None:
        self.heard.append(("written", ref, json.loads(body)))

    def deleted(self, ref: Ref, uid: str, /) -> None:
        self.heard.append(("deleted", ref, uid))

    def unanswered(self, ref: Ref, /) -> None:
        self.heard.append(("unanswered", ref))


@dataclass(slots=True)
class CountedRecorder:
    requests: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    verbs: list[str] = field(default_factory=list[str])

    def request(self, method: str, code: str, seconds: float, resource: str, verb: str, /) -> None:
        assert seconds >= 0
        self.requests.append((method, code, resource))
        self.verbs.append(verb)


def an_identity(authorization: str = "") -> FixedIdentity:
    return FixedIdentity(authorization, _UNUSED_TLS)


def a_client(
    server: str,
    *,
    fence: Fence | None = None,
    observer: WriteObserver | None = None,
    recorder: RequestRecorder | None = None,
    identity: Identity | None = None,
    limit: int = 64,
) -> KubeClient:
    credentials = Credentials(server=server, identity=identity or an_identity(), source="a test")
    observers = [observer] if observer else []
    return KubeClient.from_credentials(
        credentials, fence=fence, observers=observers, recorder=recorder, limit=limit, kinds=[CONFIG_MAPS, PODS]
    )
