"""A small manager that writes ConfigMaps as fast as it may while it leads; run as a process by the tests.

Prints `leading` when its first write was answered. Arguments: kubeconfig, namespace, seconds that each pass takes
besides, seconds of a lease.
"""

import asyncio
import random
import socket
import sys
import uuid
from datetime import timedelta
from typing import Final

from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.lease import LEASES
from firebolt_operator.look_again import After
from firebolt_operator.observability.logs import LogSettings, configure_logging
from firebolt_operator.observability.metrics import Metrics, RequestMetrics
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.controller import Controller, ControllerSettings, Outcome
from firebolt_operator.runtime.dead_man import KernelSwitch
from firebolt_operator.runtime.doubts import Doubts
from firebolt_operator.runtime.fence import LeaseFence
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.leader import Election, LeaseTerms
from firebolt_operator.runtime.manager import Manager
from firebolt_operator.runtime.process import run_process
from firebolt_operator.runtime.work_queue import WorkQueue
from tests.api.runtime.config_maps import CONFIG_MAPS, a_cache, a_config_map
from tests.support.recorders import LeaderNotes, PassNotes, QueueNotes

LEASE_NAME: Final = "load"
KEYS: Final = 6


async def run(stop: asyncio.Event) -> int:
    kubeconfig, namespace, pass_seconds, lease_seconds = sys.argv[1:5]
    duration = float(lease_seconds)
    clock, rng = SystemClock(), random.Random()
    terms = LeaseTerms(
        ref=Ref(LEASES, namespace, LEASE_NAME),
        identity=f"{socket.gethostname()}_{uuid.uuid4()}",
        duration=duration,
        renew_deadline=duration * 2 / 3,
        retry_period=duration * 2 / 15,
    )
    fence = LeaseFence(clock, KernelSwitch(), terms.duration, terms.renew_deadline)
    credentials = load_credentials(kubeconfig, {})
    recorder = Doubts(fence, RequestMetrics(Metrics(), credentials.server))
    async with KubeClient.from_credentials(credentials, fence=fence, recorder=recorder, kinds=[CONFIG_MAPS]) as client:
        has_led = False

        async def write(number: int) -> Outcome:
            nonlocal has_led
            await client.apply(a_config_map(namespace, f"load-{number}", value=str(rng.random())))
            if not has_led:
                print("leading", flush=True)
                has_led = True
            await asyncio.sleep(float(pass_seconds))
            return Outcome("written", After(timedelta(0)))

        queue: WorkQueue[int] = WorkQueue(clock, QueueNotes())
        for number in range(KEYS):
            queue.add(number)
        settings = ControllerSettings[int](name="load", describe=lambda number: {"number": number}, workers=3)
        manager = Manager(
            informers=[Informer(a_cache(namespace), client, clock, rng)],
            controllers=[Controller(settings, write, queue, PassNotes(), clock)],
            election=Election(terms, client.leases, fence, clock, rng, LeaderNotes()),
        )
        return await manager.run_until(stop)


if __name__ == "__main__":
    configure_logging(LogSettings())
    sys.exit(run_process(run))
