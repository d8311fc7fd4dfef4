"""A process that dies after every single write still gets everywhere, and never does anything twice."""

import asyncio
import random
import secrets
from collections.abc import Mapping
from typing import Any

from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.api.resources import DEPLOYMENTS, FIREBOLT_INSTANCES, PERSISTENT_VOLUME_CLAIMS, SECRETS
from firebolt_operator.api.serialise import parse_instance
from firebolt_operator.instance.dependencies import InstanceDependencies
from firebolt_operator.instance.lifecycle import InstanceReconciler
from firebolt_operator.instance.observe.caches import instance_caches
from firebolt_operator.instance.observe.metrics import NoInstanceRecorder
from firebolt_operator.instance.render.renderer import MemoisedRenderers
from firebolt_operator.instance.views import decode_secret
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Propagation
from firebolt_operator.observability.events import EventSender
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.reconciling.warner import Warner
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.objects import Key
from tests.api.instance.person import SECONDS, Person
from tests.api.instance.running import IMAGES
from tests.support.auth_step import auth_step
from tests.support.identity import identity_step
from tests.support.tls_step import tls_step

CREDENTIALS = "inst-metadata-postgres-creds"


class KilledError(BaseException):
    """Not an Exception: nothing in the product may catch it."""


class LastWrite:
    """A Writer whose process dies as soon as its first write is stored."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    async def apply(self, manifest: Manifest, /) -> Manifest:
        await self._client.apply(manifest)
        raise KilledError(f"after applying {manifest['kind']} {manifest['metadata']['name']}")

    async def create(self, manifest: Manifest, /) -> Manifest:
        await self._client.create(manifest)
        raise KilledError(f"after creating {manifest['kind']}")

    async def merge_patch(self, ref: Ref, patch: Mapping[str, Any], /, *, subresource: str = "") -> Manifest:
        await self._client.merge_patch(ref, patch, subresource=subresource)
        raise KilledError(f"after patching {ref}")

    async def update_status(self, manifest: Manifest, /) -> Manifest:
        await self._client.update_status(manifest)
        raise KilledError("after the status")

    async def replace(self, manifest: Manifest, /) -> Manifest:
        await self._client.replace(manifest)
        raise KilledError("after replacing")

    async def delete(
        self,
        ref: Ref,
        /,
        *,
        uid: str,
        resource_version: str = "",
        propagation: Propagation | None = None,
        grace_seconds: int | None = None,
    ) -> None:
        await self._client.delete(
            ref, uid=uid, resource_version=resource_version, propagation=propagation, grace_seconds=grace_seconds
        )
        raise KilledError(f"after deleting {ref}")


def ignore(key: Key) -> None:
    del key


def one_life(client: KubeClient, namespace: str) -> InstanceReconciler:
    """A process that has just started: no memory, empty caches."""
    clock, writer = SystemClock(), LastWrite(client)
    instances = Cache(FIREBOLT_INSTANCES, parse_instance, coverage=Coverage(namespaces=(namespace,)))
    auth = auth_step(client, writer, clock)
    return InstanceReconciler(
        InstanceDependencies(
            caches=instance_caches(instances, (namespace,)),
            secrets=SecretWatches(
                "referenced secrets",
                decode_secret,
                Following(reader=client, clock=clock, rng=random.Random(1)),
                ignore,
            ),
            reader=client,
            writer=writer,
            warner=Warner(
                FIREBOLT_INSTANCES, EventSender(client.unobserved, controller="test", instance="test"), clock
            ),
            recorder=NoInstanceRecorder(),
            auth=auth,
            identity=identity_step(client, writer),
            tls=tls_step(client, writer, clock, auth),
            clock=clock,
            blueprints=MemoisedRenderers(IMAGES),
            entropy=secrets.token_bytes,
        )
    )


async def live_until(door: Person, wanted: str) -> list[str]:
    """How each life ended, up to the first that came to `wanted`; one that only waits is not counted."""
    ends = list[str]()
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                outcome = await one_life(door.client, door.namespace).reconcile((door.namespace, "inst"))
            except KilledError as err:
                ends.append(str(err))
                continue
            if outcome.reason == wanted:
                return ends
            await asyncio.sleep(0.1)


async def test_every_write_may_be_the_last(
    person: Person, operator_door: Person, simulated_pods: SimulatedPods
) -> None:
    del simulated_pods  # for its effect: pods become ready
    await person.make_instance()
    ends = await live_until(operator_door, "at rest")
    made = [end for end in ends if end != "after the status"]
    assert len(made) == len(set(made)) + 1  # the instance itself is patched twice: finalizer and id
    assert made.count("after creating Secret") == 1
    ready = parse_instance(await person.read(FIREBOLT_INSTANCES, "inst"))
    assert (ready.status.phase, ready.status.instance_id) == ("Ready", ready.spec.id)

    password = await person.password()
    await person.patch_instance({"spec": {"gateway": {"replicas": 3}, "metadata": {"configFormat": "YAML"}}})
    await live_until(operator_door, "at rest")
    assert await person.password() == password
    assert (await person.read(DEPLOYMENTS, "inst-gateway"))["spec"]["replicas"] == 3

    await person.delete(FIREBOLT_INSTANCES, "inst")
    deaths = await live_until(operator_door, "gone")
    assert deaths[-1] == f"after patching FireboltInstance {person.namespace}/inst"
    assert await person.names(SECRETS, "firebolt.io/instance=inst") == set()
    await person.until(PERSISTENT_VOLUME_CLAIMS, "data-inst-metadata-pg-0", lambda found: found is None)
    assert await person.find(SECRETS, CREDENTIALS) is None


async def test_a_life_that_ends_between_the_status_and_the_wish_clears_failed_once(
    person: Person, operator_door: Person, simulated_pods: SimulatedPods
) -> None:
    del simulated_pods
    await person.make_instance()
    await live_until(operator_door, "at rest")
    await person.patch_instance({"status": {"instanceID": "01OLD"}}, subresource="status")
    await live_until(operator_door, "failed until a person clears it")
    await person.patch_instance({"metadata": {"annotations": {"firebolt.io/clear-failed": "true"}}})
    ends = await live_until(operator_door, "at rest")
    assert ends == ["after the status", f"after patching FireboltInstance {person.namespace}/inst", "after the status"]
