"""Everything we ask of the API server without changing anything."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from firebolt_operator.errors import TransientError
from firebolt_operator.kube.decoding import decode_items, decode_listing, decode_manifest, readable
from firebolt_operator.kube.kinds import discover
from firebolt_operator.kube.paths import list_path, object_path, pod_proxy_path
from firebolt_operator.kube.ports import Page, Scope, WatchEvent
from firebolt_operator.kube.translate import quoted, refusal
from firebolt_operator.kube.transport import Call, Lane, Transport
from firebolt_operator.kube.watch import watch_events
from firebolt_operator.refs import Manifest, Ref, Resource

SCRAPE_LIMIT: Final = 1 << 20  # bytes of one pod's answer
WATCH_SECONDS: Final = (300, 600)  # spread, so that a thousand watches do not start over together


async def read_object(transport: Transport, ref: Ref) -> bytes | None:
    doing = f"reading {ref}"
    call = Call(doing=doing, method="GET", path=object_path(ref), resource=ref.resource.plural)
    answer = await transport.exchange(call)
    if answer.code == 404:
        return None
    if not answer.is_success:
        raise refusal(doing, answer.code, answer.body, is_write=False)
    return answer.body


class KubeReader:
    """The Reader protocol over a Transport."""

    def __init__(self, transport: Transport, rng: random.Random) -> None:
        self._transport = transport
        self._rng = rng

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
        doing = f"listing {scope}"
        token = ""
        while True:
            path = list_path(scope, {"limit": str(limit), "continue": token})
            answer = await self._transport.exchange(
                Call(doing=doing, method="GET", path=path, resource=scope.resource.plural)
            )
            if not answer.is_success:
                raise refusal(doing, answer.code, answer.body, is_write=False)
            metadata, items = await decode_listing(doing, answer.body)
            yield Page(items, metadata.resource_version)
            token = metadata.token
            if not token:
                return
            await asyncio.sleep(0)

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
