"""What does an engine cost in memory, and for what is it kept?

    python bench/memory.py [--engines 5000]

One engine of two pods is made on a real API server, by the operator itself. What the API server says of it is then
taken in again and again under other names, through the caches' own decoders, in a process that has nothing else to do;
then every engine gets its passes with the real reconciler and metrics, until each is recognised as one at rest. Memory
is the process' own (RSS): what the allocator cannot give back counts.
"""

import argparse
import asyncio
import gc
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import uvloop

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

NAMESPACE = "bench"
FLAGS = ("--engine-image=engine:1", "--ui-image=ui:1")
UID = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
MOST_MEBIBYTES = 250
Sample = dict[str, list[bytes]]  # JSON of objects, by plural


async def sample(folder: Path) -> None:
    """What an API server says of one engine at rest."""
    # Only here: the process that is measured must not pay for them.
    from bench.support import cluster  # noqa: PLC0415
    from bench.support.fleet import INSTANCE, Fleet  # noqa: PLC0415
    from bench.support.operator_process import start_operator  # noqa: PLC0415
    from bench.support.outsider import an_outsider  # noqa: PLC0415
    from firebolt_local.testing.crds import install_crds  # noqa: PLC0415
    from firebolt_operator.engine.observe.caches import engine_caches  # noqa: PLC0415
    from firebolt_operator.kube.client import KubeClient  # noqa: PLC0415
    from firebolt_operator.kube.credentials import load_credentials  # noqa: PLC0415

    with cluster.a_control_plane() as plane:
        async with KubeClient.from_credentials(load_credentials(str(plane.kubeconfig), {})) as client:
            await install_crds(client)
            await cluster.make_namespace(client, NAMESPACE)
            async with an_outsider(plane.kubeconfig_for("outsider"), NAMESPACE) as outsider:
                operator = start_operator(plane, FLAGS)
                await cluster.make_instance(client, NAMESPACE, INSTANCE)
                await Fleet(client, NAMESPACE).create(1)
                await outsider.until_at_rest(1, 0)
                operator.stop()
            for cache in engine_caches((), "").all():
                scope = cache.coverage.scope(cache.resource, "")
                async with aclosing(client.pages(scope)) as pages:
                    bodies = [body.decode() async for page in pages for body in page.items]
                (folder / f"{cache.resource.plural}.json").write_text(json.dumps(bodies))


def read_sample(folder: Path) -> Sample:
    return {path.stem: [body.encode() for body in json.loads(path.read_text())] for path in folder.glob("*.json")}


def copies(bodies: list[bytes], count: int) -> Iterator[bytes]:
    """Of every object one for each engine, with a name and uids of its own."""
    for number in range(count):
        for body in bodies:
            named = body.replace(b"eng-0000", b"eng-%05d" % number)
            yield UID.sub(rb"%08x\1" % number, named)


def resident_kibibytes() -> int:
    gc.collect()
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


async def fill(folder: Path, count: int) -> None:
    """The process that is measured."""
    from prometheus_client import CollectorRegistry  # noqa: PLC0415

    from firebolt_operator.engine.lifecycle import EngineReconciler  # noqa: PLC0415
    from firebolt_operator.engine.observe.caches import engine_caches  # noqa: PLC0415
    from firebolt_operator.engine.observe.metrics import EngineMetrics  # noqa: PLC0415
    from firebolt_operator.runtime.clock import SystemClock  # noqa: PLC0415
    from firebolt_operator.runtime.resting import RestingPasses  # noqa: PLC0415
    from tests.support.one_engine import OneEngine  # noqa: PLC0415

    bodies, caches = read_sample(folder), engine_caches((), "")
    one = OneEngine(clock=SystemClock(), caches=caches, recorder=EngineMetrics(CollectorRegistry()))
    reconciler = EngineReconciler(one.dependencies())
    passes = RestingPasses(reconciler.reconcile, reconciler.confirmed)
    told = {"empty": resident_kibibytes()}
    for cache in caches.all():
        listing = cache.begin_list("", 1 << 60)
        is_shared = cache.resource.plural not in SEPARATE
        for body in copies(bodies[cache.resource.plural], 1 if is_shared else count):
            cache.listed(listing, body)
        cache.end_list(listing)
        told[cache.resource.plural] = resident_kibibytes()
    keys = [(NAMESPACE, f"eng-{number:05}") for number in range(count)]
    for _ in range(2):
        for key in keys:
            await passes.run(key)
    told["passes"] = resident_kibibytes()
    if one.api.requests or len(passes._conclusions) != count:  # noqa: SLF001 - or something else was measured
        raise RuntimeError(f"not at rest: {one.api.requests[:5]}, {len(passes._conclusions)} settled")  # noqa: SLF001
    print(json.dumps(told))


SEPARATE = {
    "fireboltengines": "the engine: spec and status",
    "statefulsets": "its StatefulSet: the pod template, to find drift",
    "services": "its two Services",
    "configmaps": "its ConfigMap: fingerprint",
    "pods": "its two pods",
    "passes": "metrics, memos, evidence of the last pass",
}


def measure(count: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        uvloop.run(sample(Path(folder)))
        command = [sys.executable, __file__, "--fill", folder, "--engines", str(count)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout
    answer: dict[str, int] = json.loads(told.splitlines()[-1])
    return answer


def show(told: dict[str, int], count: int) -> None:
    from bench.support.report import Report  # noqa: PLC0415

    report, before = Report(), told["empty"]
    report.add("MiB with nothing", before / 1024, None, "MiB")
    for name, resident in told.items():
        if name in SEPARATE:
            report.add(SEPARATE[name], (resident - before) / count, None, "KiB")
        before = resident
    report.add("each engine, all of it", (told["passes"] - told["empty"]) / count, None, "KiB")
    report.add(f"{count} engines, {2 * count} pods", told["passes"] / 1024, MOST_MEBIBYTES, "MiB")
    report.show()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", type=int, default=5_000)
    parser.add_argument("--fill", type=Path, help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.fill:
        asyncio.run(fill(words.fill, words.engines))
        return
    show(measure(words.engines), words.engines)


if __name__ == "__main__":
    main()
