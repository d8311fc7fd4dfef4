"""A process that dies after every single write of a rotation still finishes it, and leaves nothing behind."""

import asyncio
import random
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import CERTIFICATES, FIREBOLT_INSTANCES, SECRETS
from firebolt_operator.api.serialise import parse_instance
from firebolt_operator.instance.dependencies import InstanceDependencies
from firebolt_operator.instance.lifecycle import InstanceReconciler
from firebolt_operator.instance.observe.caches import instance_caches
from firebolt_operator.instance.observe.metrics import NoInstanceRecorder
from firebolt_operator.instance.render.renderer import MemoisedRenderers
from firebolt_operator.instance.views import decode_secret
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.writing import WriteRules
from firebolt_operator.observability.events import EventSender
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.reconciling.warner import Warner
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.following import Following
from tests.api.auth.people import AUTH, SECONDS, Administrator, key_phases
from tests.api.engine.clock import SkippingClock
from tests.api.instance.running import IMAGES
from tests.api.instance.test_crashes import KilledError, LastWrite, ignore
from tests.support.auth_step import auth_step
from tests.support.cert_manager import CertManager
from tests.support.identity import identity_step
from tests.support.tls_step import tls_step

FIRST, SECOND = "inst-auth-signing", "inst-auth-signing-signing-2"


@asynccontextmanager
async def a_life(client: KubeClient, namespace: str, clock: Clock) -> AsyncGenerator[InstanceReconciler]:
    """A process that has just started: no memory, empty caches; it dies with its first write."""
    writer = LastWrite(client)
    following = Following(reader=client, clock=clock, rng=random.Random(1))
    instances = Cache(FIREBOLT_INSTANCES, parse_instance, coverage=Coverage(namespaces=(namespace,)))
    step = auth_step(client, writer, clock)
    step.observer.certificates.discovered.clear()
    events = EventSender(client.unobserved, controller="test", instance="test")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(step.observer.certificates.run(), name="certificates")
        await step.observer.certificates.discovered.wait()
        yield InstanceReconciler(
            InstanceDependencies(
                caches=instance_caches(instances, (namespace,)),
                secrets=SecretWatches("referenced secrets", decode_secret, following, ignore),
                reader=client,
                writer=writer,
                warner=Warner(FIREBOLT_INSTANCES, events, clock),
                recorder=NoInstanceRecorder(),
                auth=step,
                identity=identity_step(client, writer),
                tls=tls_step(client, writer, clock, step),
                clock=clock,
                blueprints=MemoisedRenderers(IMAGES),
                entropy=secrets.token_bytes,
            )
        )
        task.cancel()


async def live_until(
    administrator: Administrator, clock: Clock, wanted: Callable[[FireboltInstance], object]
) -> list[str]:
    """How each life ended."""
    ends, client = list[str](), administrator.client
    door = KubeClient(client._transport, client._kinds, WriteRules(), client._rng)
    async with asyncio.timeout(SECONDS):
        while not wanted(await administrator.instance()):
            try:
                async with a_life(door, administrator.namespace, clock) as reconciler:
                    await reconciler.reconcile((administrator.namespace, "inst"))
            except* KilledError as killed:
                ends += map(str, killed.exceptions)
            await asyncio.sleep(0.05)
    return ends


def in_phases(**phases: str) -> Callable[[FireboltInstance], bool]:
    wanted = {name.replace("_", "-"): phase for name, phase in phases.items()}
    return lambda instance: key_phases(instance) == wanted


def is_anchored(instance: FireboltInstance) -> bool:
    auth = instance.status.auth
    return auth is not None and any(key.retire_eligible_at for key in auth.signing_keys)


async def test_every_write_of_a_rotation_may_be_the_last(
    administrator: Administrator, cert_manager: CertManager
) -> None:
    del cert_manager
    clock = SkippingClock()
    await administrator.make_password()
    await administrator.make_instance(auth=AUTH)
    ends = await live_until(administrator, clock, in_phases(signing_1="Active"))
    assert f"after applying Certificate {FIRST}" in ends
    clock.skip(timedelta(hours=721))
    ends = await live_until(administrator, clock, in_phases(signing_1="Active", signing_2="ValidationOnly"))
    assert f"after applying Certificate {SECOND}" in ends
    await live_until(administrator, clock, in_phases(signing_1="ValidationOnly", signing_2="Active"))
    await live_until(administrator, clock, is_anchored)
    clock.skip(timedelta(hours=26))
    ends = await live_until(administrator, clock, in_phases(signing_2="Active"))
    # The Certificate first, then its Secret, then the record of it: a life each.
    place = f"{administrator.namespace}/{FIRST}"
    gone = [f"after deleting Certificate {place}", f"after deleting Secret {place}", "after the status"]
    assert [end for end in ends if end in gone][-3:] == gone
    assert await administrator.names(CERTIFICATES) == {SECOND}
    assert FIRST not in await administrator.names(SECRETS)
    auth = (await administrator.instance()).status.auth
    assert auth is not None
    assert auth.signing_key_generation == 2
