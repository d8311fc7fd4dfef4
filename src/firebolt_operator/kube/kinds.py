"""Which plural belongs to this kind? Known from the start, or asked of the API server once (discovery)."""

from collections.abc import Iterable
from typing import Final

import msgspec

from firebolt_operator.errors import NotFoundError, TransientError
from firebolt_operator.kube.paths import api_root
from firebolt_operator.kube.set_aside import Undecodable
from firebolt_operator.kube.translate import refusal
from firebolt_operator.kube.transport import Call, Transport
from firebolt_operator.refs import Manifest, Ref, Resource


class _Offered(msgspec.Struct, frozen=True):
    name: str
    kind: str
    namespaced: bool


class _ResourceList(msgspec.Struct, frozen=True):
    resources: list[_Offered] = []


_DECODER: Final = msgspec.json.Decoder(_ResourceList)


async def discover(transport: Transport, api_version: str) -> tuple[Resource, ...]:
    """Everything one group and version offers, subresources left out; empty if the server does not know it."""
    doing = f"discovering {api_version}"
    answer = await transport.exchange(Call(doing=doing, method="GET", path=api_root(api_version), resource="discovery"))
    if answer.code == 404:
        return ()
    if not answer.is_success:
        raise refusal(doing, answer.code, answer.body, is_write=False)
    try:
        offered = _DECODER.decode(answer.body).resources
    except Undecodable as err:
        raise TransientError(f"{doing}: the answer is not a resource list: {err}") from err
    group, _, version = api_version.rpartition("/")
    return tuple(
        Resource(group, version, each.name, each.kind, each.namespaced) for each in offered if "/" not in each.name
    )


class Kinds:
    """What is known stays known: a plural never changes while the server serves the kind."""

    def __init__(self, transport: Transport, known: Iterable[Resource] = ()) -> None:
        self._transport = transport
        self._known = {(resource.api_version, resource.kind): resource for resource in known}

    async def ref_of(self, manifest: Manifest) -> Ref:
        """The name is empty if the server shall make it up (generateName)."""
        resource = await self._resource(manifest["apiVersion"], manifest["kind"])
        metadata: Manifest = manifest["metadata"]
        namespace = metadata.get("namespace", "") if resource.namespaced else ""
        return Ref(resource, namespace, metadata.get("name", ""))

    async def _resource(self, api_version: str, kind: str) -> Resource:
        if (api_version, kind) not in self._known:
            for offered in await discover(self._transport, api_version):
                self._known.setdefault((api_version, offered.kind), offered)
        resource = self._known.get((api_version, kind))
        if resource is None:
            raise NotFoundError(f"the API server has no {kind} in {api_version}", status=404, reason="NotFound")
        return resource
