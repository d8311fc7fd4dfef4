"""How much memory does a manager with nothing to do take?

    python bench/idle.py

Starts one as a process of its own (uvloop, API client, informer, election, health and metrics servers, no controllers)
against a real API server, and reads its resident memory.
"""

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.lease import LEASES
from firebolt_operator.observability.cache_metrics import CacheMetrics
from firebolt_operator.observability.logs import LogSettings, configure_logging
from firebolt_operator.observability.metrics import LeaderMetrics, Metrics, RequestMetrics
from firebolt_operator.refs import Ref, Resource
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.dead_man import KernelSwitch
from firebolt_operator.runtime.fence import LeaseFence
from firebolt_operator.runtime.health import health_app
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.leader import Election, LeaseTerms
from firebolt_operator.runtime.manager import Manager
from firebolt_operator.runtime.metrics_server import metrics_app
from firebolt_operator.runtime.objects import manifest_of
from firebolt_operator.runtime.process import run_process
from firebolt_operator.runtime.servers import BindAddress, HttpServer

SETTLE_SECONDS: Final = 5.0
CONFIG_MAPS: Final = Resource("", "v1", "configmaps", "ConfigMap")


async def run(stop: asyncio.Event) -> int:
    clock, rng, metrics = SystemClock(), random.Random(), Metrics()
    terms = LeaseTerms(ref=Ref(LEASES, "default", "idle"), identity="bench")
    fence = LeaseFence(clock, KernelSwitch(), terms.duration, terms.renew_deadline)
    credentials = load_credentials(sys.argv[2], {})
    recorder = RequestMetrics(metrics, credentials.server)
    async with KubeClient.from_credentials(credentials, fence=fence, recorder=recorder) as client:
        cache = Cache(CONFIG_MAPS, manifest_of)
        informer = Informer(cache, client, clock, rng)
        CacheMetrics(metrics).follows("configmaps", informer)
        loopback = BindAddress("127.0.0.1", 0)
        manager = Manager(
            servers=[
                HttpServer("health", health_app(), loopback),
                HttpServer("metrics", metrics_app(metrics.render, None), loopback),
            ],
            informers=[informer],
            election=Election(terms, client.leases, fence, clock, rng, LeaderMetrics(metrics, "idle")),
        )
        return await manager.run_until(stop)


def measure() -> float:
    """MB resident after the manager has settled."""
    # Only here: the process that is measured must not pay for them.
    from firebolt_local.cluster.control_plane import ControlPlane, Options  # noqa: PLC0415
    from firebolt_local.programs import provision  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        options = Options(folder=Path(folder), controllers=(), scheduler=False)
        plane = ControlPlane(options, provision.provide(provision.CONTROL_PLANE)).start()
        command = [sys.executable, __file__, "manager", str(plane.kubeconfig)]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=dict(os.environ)) as process:
            time.sleep(SETTLE_SECONDS)
            status = Path(f"/proc/{process.pid}/status").read_text()
            process.terminate()
        plane.stop()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(resident.split()[1]) / 1024


def main() -> None:
    if sys.argv[1:2] == ["manager"]:
        configure_logging(LogSettings())
        sys.exit(run_process(run))
    print(f"{'figure':<52}{'measured':>12}{'target':>10}")
    print(f"{'MB resident, manager with nothing to do':<52}{measure():>12.1f}{'< 60':>10}")


if __name__ == "__main__":
    main()
