"""The operator at work in a minute: a control plane with simulated pods, the operator beside it, the examples on it.

Everything that is started belongs to the cluster `demo` and ends with it.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from firebolt_local import commands
from firebolt_local.cluster import processes
from firebolt_local.cluster.folder import ClusterFolder, Kind, cluster_folder
from firebolt_local.demo import words
from firebolt_local.demo.timeline import Timeline
from firebolt_local.errors import LocalError
from firebolt_local.programs import provision
from firebolt_local.testing.convergence import is_at_rest
from firebolt_local.testing.crds import install_crds
from firebolt_local.testing.following import follow
from firebolt_local.testing.groups import without_groups
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.resources import FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Ref

NAME = "demo-simulated"
NAMESPACE = "default"
OPERATOR = "firebolt-operator"
ENGINE = Ref(FIREBOLT_ENGINES, NAMESPACE, "analytics")
MOST_SECONDS = 120.0
SETTLE = "2s"
IsThere = Callable[[FireboltEngine], bool]


def run(typed: words.Commands) -> None:
    kubectl = provision.provide(provision.FOR_SIMULATED_DEMO)["kubectl"]
    commands.up(commands.UpRequest(name=NAME, folder=None, kind=Kind.CONTROL_PLANE, simulated_pods=True, port=None))
    cluster = cluster_folder(NAME, None)
    with without_groups():
        asyncio.run(_show(cluster))
    print(_next_steps(cluster, kubectl, typed))


async def _show(cluster: ClusterFolder) -> None:
    kubeconfig = _kubeconfig(cluster)
    async with KubeClient.from_credentials(load_credentials(kubeconfig, {})) as client:
        print("==> installing the five kinds", flush=True)
        await install_crds(client)
        _start_operator(cluster, kubeconfig)
        async with _timeline(client, cluster) as story:
            await story.step("==> creating an instance and an engine of two nodes", _create(client), is_at_rest(2))
            await story.step(
                "==> three nodes: a new generation is built, then queries are switched",
                _scale(client, 3),
                is_at_rest(3),
            )
            await story.step("==> parked: no nodes, until somebody asks again", _scale(client, 0), is_at_rest(0))
            await story.step("==> back with two nodes", _scale(client, 2), is_at_rest(2))


async def _create(client: KubeClient) -> None:
    for manifest in yaml.safe_load_all(words.example("quickstart.yaml").read_text()):
        manifest["metadata"]["namespace"] = NAMESPACE
        await client.apply(manifest)


async def _scale(client: KubeClient, replicas: int) -> None:
    await client.merge_patch(ENGINE, {"spec": {"replicas": replicas}})


@dataclass(frozen=True, slots=True)
class Story:
    timeline: Timeline
    cluster: ClusterFolder

    async def step(self, title: str, change: Awaitable[None], is_there: IsThere) -> None:
        print(title, flush=True)
        await change
        try:
            async with asyncio.timeout(MOST_SECONDS):
                await self.timeline.until(ENGINE.name, is_there)
        except TimeoutError as err:
            log = self.cluster.path / processes.LOGS / f"{OPERATOR}.log"
            raise LocalError(f"the engine did not get there within {MOST_SECONDS:g} s; {log} says why") from err


@asynccontextmanager
async def _timeline(client: KubeClient, cluster: ClusterFolder) -> AsyncGenerator[Story]:
    """Prints what happens to instances and engines for as long as it is open."""
    timeline = Timeline(time.monotonic)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(follow(client, Scope(resource=resource, namespace=NAMESPACE), seen), name=resource.plural)
            for resource, seen in ((FIREBOLT_INSTANCES, timeline.instance), (FIREBOLT_ENGINES, timeline.engine))
        ]
        yield Story(timeline, cluster)
        for task in tasks:
            task.cancel()


def _kubeconfig(cluster: ClusterFolder) -> str:
    record = cluster.read()
    if record is None:
        raise LocalError("the demo cluster has gone; run it again")
    return record.kubeconfig


def _start_operator(cluster: ClusterFolder, kubeconfig: str) -> None:
    known = cluster.processes().get(OPERATOR)
    if known is not None and known.is_alive():
        return
    print(f"==> starting the operator, with a drain settle of {SETTLE}: nothing here caches DNS answers", flush=True)
    words = ["run", "--kubeconfig", kubeconfig, "--drain-settle", SETTLE, "--health-probe-bind-address", "0"]
    launch = processes.Launch(
        name=OPERATOR,
        command=[sys.executable, "-m", "firebolt_operator.main", *words],
        folder=cluster.path,
        environment={"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    processes.start(launch)


def _next_steps(cluster: ClusterFolder, kubectl: Path, typed: words.Commands) -> str:
    return f"""
The cluster and the operator go on running. Try:

  export KUBECONFIG={_kubeconfig(cluster)}
  alias kubectl={kubectl}
  kubectl get firebolt -o wide            # instances, engines, classes at a glance
  kubectl describe fireng {ENGINE.name}        # what is true of an engine, and why
  kubectl scale fireng {ENGINE.name} --replicas 4
  kubectl apply -f {words.example("engine-class.yaml")}
  kubectl get pods,statefulsets,services -w

Pods are simulated: they become ready, but run no containers. What the operator says:
  {cluster.path / processes.LOGS / OPERATOR}.log

Clean up with: {typed.clean}"""
