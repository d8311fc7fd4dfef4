"""Everything there is in a namespace, of every kind that the API server can list."""

from collections.abc import Iterator
from typing import Final

from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Resource

FLEETING: Final = frozenset({"Event"})
"""What tells about objects and outlives them on purpose."""


def namespaced_kinds(http: KubeHttp) -> list[Resource]:
    """From discovery: kinds that nobody thought of are found as well."""
    groups: list[Manifest] = http.get("/apis")["groups"]
    versions = [group["preferredVersion"]["groupVersion"] for group in groups]
    return [resource for version in ("v1", *versions) for resource in _listable(http, version)]


def _listable(http: KubeHttp, api_version: str) -> Iterator[Resource]:
    group, _, version = api_version.rpartition("/")
    offered: list[Manifest] = http.get(f"/apis/{api_version}" if group else f"/api/{version}")["resources"]
    for each in offered:
        if each["namespaced"] and "list" in each["verbs"] and each["kind"] not in FLEETING:
            yield Resource(group, version, each["name"], each["kind"])


async def everything(client: KubeClient, kinds: list[Resource], namespace: str) -> set[str]:
    found: set[str] = set()
    for resource in kinds:
        objects = await client.list(Scope(resource=resource, namespace=namespace))
        found |= {f"{resource.plural}.{resource.group}/{each['metadata']['name']}" for each in objects}
    return found
