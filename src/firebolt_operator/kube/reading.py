"""Everything we ask of the API server without changing anything."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from firebolt_operator.errors import AnswerTooLongError, TransientError
from firebolt_operator.kube.decoding import decode_items, decode_listing, decode_manifest, readable
from firebolt_operator.kube.kinds import discover
from firebolt_operator.kube.page_size import PageSize, PageSizes
from firebolt_operator.kube.paths import list_path, object_path, pod_proxy_path
from firebolt_operator.kube.ports import Page, Scope, WatchEvent
from firebolt_operator.kube.set_aside import metadata_alone
from firebolt_operator.kube.translate import quoted, refusal
from firebolt_operator.kube.transport import Call, Lane, Transport
from firebolt_operator.kube.watch import watch_events
from firebolt_operator.refs import Manifest, Ref, Resource

SCRAPE_LIMIT: Final = 1 << 20  # bytes of one pod's answer
JSON: Final = "application/json"
METADATA_OF_LISTS: Final = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
METADATA_OF_OBJECTS: Final = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
LISTS_AT_ONCE: Final = 4
WATCH_SECONDS: Final = (300, 600)  # spread, so that a thousand watches do not start over together


async def read_object(transport: Transport, ref: Ref) -> bytes | None:
    """A SetAside of an object that is too large for an answer."""
    try:
        return await _read(transport, ref, JSON)
    except AnswerTooLongError:
        body = await _read(transport, ref, METADATA_OF_OBJECTS)
        return None if body is None else _metadata(ref, body)


async def _read(transport: Transport, ref: Ref, accept: str) -> bytes | None:
    doing = f"reading {ref}"
    call = Call(doing=doing, method="GET", path=object_path(ref), resource=ref.resource.plural, accept=accept)
    answer = await transport.exchange(call)
    if answer.code == 404:
        return None
    if not answer.is_success:
        raise refusal(doing, answer.code, answer.body, is_write=False)
    return answer.body


def _metadata(whose: Ref | Scope, body: bytes) -> bytes:
    try:
        return metadata_alone(body)
    except ValueError as err:
        raise TransientError(f"reading metadata of {whose}: {err}") from err


class KubeReader:
    """The Reader protocol over a Transport."""

    def __init__(self, transport: Transport, rng: random.Random) -> None:
        self._transport = transport
        self._rng = rng
        self._sizes = PageSizes()
        self._places = asyncio.Semaphore(LISTS_AT_ONCE)

    async def get(self, ref: Ref, /) -> Manifest | None:
        body = await read_object(self._transport, ref)
        return None if body is None else await decode_manifest(f"reading {ref}", body)

    async def get_raw(self, ref: Ref, /) -> bytes | None:
        body = await read_object(self._transport, ref)
        return None if body is None else await readable(f"reading {ref}", body)

    async def list(self, scope: Scope, /) -> list[Manifest]:
        identity = {"apiVersion": scope.resource.api_version, "kind": scope.resource.kind}
        found: list[Manifest] = []
        async with aclosing(self.pages(scope)) as pages:
            async for page in pages:
                found += [identity | item for item in await decode_items(f"listing {scope}", page.items)]
        return found

    async def pages(self, scope: Scope, /, *, limit: int = 500) -> AsyncGenerator[Page]:
        """Of at most so many objects; of fewer where they are large."""
        size = self._sizes.of(scope, limit)
        token = ""
        while True:
            page, token = await self._page(scope, size, token)
            yield page
            if not token:
                size.ended()
                self._sizes.keep(scope, size)
                return
            await asyncio.sleep(0)

    async def _page(self, scope: Scope, size: PageSize, token: str) -> tuple[Page, str]:
        """And where the next one begins."""
        while True:
            try:
                # One after the other: each may be large, and there may be many at the start.
                async with self._places:
                    return await self._listing(scope, size, token)
            except AnswerTooLongError:
                if not size.too_long():
                    return await self._outlined_page(scope, token)
            except TransientError as err:
                if isinstance(err.__cause__, TimeoutError):
                    size.too_slow()
                    self._sizes.keep(scope, size)
                raise
            self._sizes.keep(scope, size)

    async def _listing(self, scope: Scope, size: PageSize, token: str) -> tuple[Page, str]:
        body = await self._listed(scope, size.now, token)
        size.took(len(body))
        metadata, items = await decode_listing(f"listing {scope}", body)
        return Page(items, metadata.resource_version), metadata.token

    async def _outlined_page(self, scope: Scope, token: str) -> tuple[Page, str]:
        """One object that is too large for an answer: what can be had of it is its metadata."""
        body = await self._listed(scope, 1, token, METADATA_OF_LISTS)
        metadata, items = await decode_listing(f"listing {scope}", body)
        return Page([_metadata(scope, item) for item in items], metadata.resource_version), metadata.token

    async def _listed(self, scope: Scope, limit: int, token: str, accept: str = JSON) -> bytes:
        doing = f"listing {scope}"
        path = list_path(scope, {"limit": str(limit), "continue": token})
        answer = await self._transport.exchange(
            Call(doing=doing, method="GET", verb="list", path=path, resource=scope.resource.plural, accept=accept)
        )
        if not answer.is_success:
            raise refusal(doing, answer.code, answer.body, is_write=False)
        return answer.body

    def watch(self, scope: Scope, /, *, resource_version: str) -> AsyncGenerator[WatchEvent]:
        lasting = self._rng.randint(*WATCH_SECONDS)
        return watch_events(self._transport, scope, resource_version=resource_version, lasting_seconds=lasting)

    async def resources(self, api_version: str, /) -> tuple[Resource, ...]:
        return await discover(self._transport, api_version)

    async def pod_proxy_get(self, pod: Ref, port: int, path: str, /, *, timeout: float = 10.0) -> bytes:  # noqa: ASYNC109
        """What the pod itself answers, asked through the API server."""
        doing = f"asking {pod} port {port} for {path}"
        call = Call(
            doing=doing,
            method="GET",
            path=pod_proxy_path(pod, port, path),
            resource="pods/proxy",
            lane=Lane.SCRAPES,
            timeout_seconds=timeout,
            answer_limit=SCRAPE_LIMIT,
            can_repeat=False,
        )
        answer = await self._transport.exchange(call)
        if answer.code != 200:
            raise TransientError(f"{doing}: HTTP {answer.code}: {quoted(answer.body)}")
        return answer.body
