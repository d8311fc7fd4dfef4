"""A namespace for one test or one case, emptied afterwards of whatever goes on by itself.

It is not deleted: Kubernetes would list and delete every kind it knows there, several times, and those requests were
two thirds of all that the API server of a whole run answered. What stays (ConfigMaps, roles, events) just lies there
until the control plane ends with the run.
"""

import json
import secrets
import time
from typing import Final

from firebolt_local.cluster.kube_http import MERGE_PATCH, KubeHttp
from firebolt_operator.api.crds import KINDS
from firebolt_operator.api.resources import DEPLOYMENTS, PERSISTENT_VOLUME_CLAIMS, PODS, SERVICES, STATEFULSETS
from firebolt_operator.kube.paths import collection_path
from firebolt_operator.kube.set_aside import outline, split_list
from firebolt_operator.refs import Manifest, Resource

# Those that make others first; the rest of the cluster works for each of them, or waits for the volume of one.
_LIVELY: Final = (STATEFULSETS, DEPLOYMENTS, SERVICES, PODS, PERSISTENT_VOLUME_CLAIMS)
_AT_ONCE: Final = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
_NO_FINALIZERS: Final = {"metadata": {"finalizers": None}}
_NOT_FOUND: Final = 404
_TOO_EARLY: Final = 429  # what a kind answers while its storage is new


def make_namespace(http: KubeHttp, prefix: str = "test") -> str:
    name = f"{prefix}-{secrets.token_hex(5)}"
    http.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


def empty_namespace(http: KubeHttp, namespace: str) -> None:
    patient = http.patient()  # hundreds go in one request, which is answered when the last is gone
    # Before their owners: the garbage collector would look each of them up to delete it.
    for resource in _LIVELY:
        _delete_all(patient, collection_path(resource, namespace))
    for kind in KINDS:
        if kind.resource.namespaced:
            _remove_ours(patient, kind.resource, namespace)


def _remove_ours(http: KubeHttp, resource: Resource, namespace: str) -> None:
    """The operator that would take the finalizers away has ended."""
    path = collection_path(resource, namespace)
    status, answer = http.text("GET", path)
    while status == _TOO_EARLY:
        time.sleep(0.1)
        status, answer = http.text("GET", path)
    if status == _NOT_FOUND:
        return  # this control plane has no such kind
    _, items = split_list(answer.encode())  # also of those that a test made for no decoder to read
    for each in items:
        metadata: Manifest = json.loads(outline(each))["metadata"]
        if metadata.get("finalizers"):
            # It may have gone meanwhile, whatever the answer is.
            http.text("PATCH", f"{path}/{metadata['name']}", json.dumps(_NO_FINALIZERS), MERGE_PATCH)
    if items:
        _delete_all(http, path)


def _delete_all(http: KubeHttp, path: str) -> None:
    http.text("DELETE", path, json.dumps(_AT_ONCE))
