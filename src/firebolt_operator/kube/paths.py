"""Where does the API server keep this object, this list, this subresource?"""

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Ref, Resource

_PLAIN = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def api_root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def collection_path(resource: Resource, namespace: str) -> str:
    root = api_root(resource.api_version)
    if resource.namespaced and namespace:
        return f"{root}/namespaces/{_segment(namespace)}/{resource.plural}"
    return f"{root}/{resource.plural}"


def object_path(ref: Ref, subresource: str = "") -> str:
    # An object path without its name is the path of the whole collection: a delete would empty it.
    if not ref.name or ref.resource.namespaced != bool(ref.namespace):
        raise RuntimeError(f"not the name of one object: {ref!r}")
    path = f"{collection_path(ref.resource, ref.namespace)}/{_segment(ref.name)}"
    return f"{path}/{subresource}" if subresource else path


def creation_path(ref: Ref) -> str:
    if ref.resource.namespaced and not ref.namespace:
        raise RuntimeError(f"nowhere to create: {ref!r}")
    return collection_path(ref.resource, ref.namespace)


def pod_proxy_path(pod: Ref, port: int, path: str) -> str:
    target = Ref(pod.resource, pod.namespace, f"{pod.name}:{port}")
    return f"{object_path(target, 'proxy')}/{path.removeprefix('/')}"


def list_path(scope: Scope, query: Mapping[str, str]) -> str:
    selectors = {"labelSelector": scope.labels, "fieldSelector": scope.fields}
    return with_query(collection_path(scope.resource, scope.namespace), {**selectors, **query})


def with_query(path: str, query: Mapping[str, str]) -> str:
    """Empty values are left out."""
    given = {key: value for key, value in query.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def _segment(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else quote(text, safe=":")
