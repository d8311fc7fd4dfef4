"""Thousands of engines that stand already, without the hours that it takes to make them: copies of one.

One engine is made by the operator. What the API server says of it and of its children is then written again under other
names, pods included; the controllers and whoever plays the kubelet have gone by then, and find nothing to do.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from bench.support import cluster
from bench.support.crowd import for_each
from bench.support.fleet import INSTANCE, Fleet, engine_name
from bench.support.operator_process import start_operator
from bench.support.outsider import an_outsider
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.processes import kill, read_records
from firebolt_operator.api.names import LABEL_ENGINE
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINES, PODS, SERVICES, STATEFULSETS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Resource

GONE: Final = ("kube-controller-manager", "kube-scheduler", "kwok")
CHILDREN: Final = (CONFIG_MAPS, SERVICES, STATEFULSETS)
OF_THE_SERVER: Final = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink")


@dataclass(frozen=True, slots=True)
class Original:
    engine: Manifest
    children: tuple[Manifest, ...]
    pods: tuple[Manifest, ...]


async def one_engine(plane: ControlPlane, client: KubeClient, namespace: str, flags: tuple[str, ...]) -> Original:
    """Made by the operator, which ends then, as the controllers do."""
    async with an_outsider(plane.kubeconfig_for("outsider"), namespace) as outsider:
        operator = start_operator(plane, flags)
        await cluster.make_instance(client, namespace, INSTANCE)
        await Fleet(client, namespace).create(1)
        await outsider.until_at_rest(1, 0)
        operator.stop()
    records = read_records(plane.folder)
    kill([records[name] for name in GONE])
    engines = await _found(client, FIREBOLT_ENGINES, namespace)
    children = [each for resource in CHILDREN for each in await _found(client, resource, namespace, LABEL_ENGINE)]
    return Original(engines[0], tuple(children), tuple(await _found(client, PODS, namespace, LABEL_ENGINE)))


async def _found(client: KubeClient, resource: Resource, namespace: str, labels: str = "") -> list[Manifest]:
    found = await client.list(Scope(resource=resource, namespace=namespace, labels=labels))
    return [{"apiVersion": resource.api_version, "kind": resource.kind} | each for each in found]


async def copy_engines(client: KubeClient, original: Original, count: int) -> None:
    """So that there are so many of them, the first one included."""
    await for_each(count - 1, lambda number: _copy(client, original, engine_name(number + 1)))


async def _copy(client: KubeClient, original: Original, name: str) -> None:
    uids = dict[str, str]()
    engine = await _written(client, original.engine, name, uids)
    uids[original.engine["metadata"]["uid"]] = engine["metadata"]["uid"]
    for child in original.children:
        stored = await _written(client, child, name, uids, has_status=False)
        uids[child["metadata"]["uid"]] = stored["metadata"]["uid"]
    for pod in original.pods:
        await _written(client, pod, name, uids)


async def _written(
    client: KubeClient, manifest: Manifest, name: str, uids: dict[str, str], *, has_status: bool = True
) -> Manifest:
    text = json.dumps(manifest).replace(engine_name(0), name)
    for old, new in uids.items():
        text = text.replace(old, new)
    wanted: Manifest = json.loads(text)
    wanted["metadata"] = {key: value for key, value in wanted["metadata"].items() if key not in OF_THE_SERVER}
    _forget_addresses(wanted.get("spec", {}))
    stored = await client.create(wanted)
    if not has_status:
        return stored
    return await client.update_status(stored | {"status": wanted["status"]})


def _forget_addresses(spec: dict[str, Any]) -> None:
    """Of a Service: each gets one of its own. One without any says so."""
    if spec.get("clusterIP", "None") != "None":
        del spec["clusterIP"], spec["clusterIPs"]
