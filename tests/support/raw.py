"""Objects that no encoder or decoder of ours would touch, written and read as text."""

from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.paths import creation_path, object_path
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.kube.transport import Call
from firebolt_operator.kube.writing import MERGE
from firebolt_operator.refs import Ref, Resource


async def create_raw(client: KubeClient, resource: Resource, namespace: str, body: bytes) -> None:
    await _send(client, "POST", creation_path(Ref(resource, namespace, "")), body)


async def patch_raw(client: KubeClient, ref: Ref, body: bytes) -> None:
    """A merge patch."""
    await _send(client, "PATCH", object_path(ref), body)


async def is_unreadable(client: KubeClient, ref: Ref) -> bool:
    return isinstance(await client.get_raw(ref), SetAside)


async def _send(client: KubeClient, method: str, path: str, body: bytes) -> None:
    content_type = MERGE if method == "PATCH" else "application/json"
    call = Call(doing=method, method=method, path=path, resource="any", body=body, content_type=content_type)
    answer = await client._transport.exchange(call)
    assert answer.is_success, answer.body[:500]
