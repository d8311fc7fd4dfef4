"""A real CoreDNS where the pods are, with as much cache as a benchmark wants."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.pod_network import PodNetwork
from firebolt_local.programs import provision
from tests.support.dataplane.client import Client

NO_CACHE: Final = "ttl 5\n}"
"""As kubeadm has it in recent releases: `cache 30` with `disable denial cluster.local` is no cache for engines."""
PLUGIN_DEFAULTS: Final = "ttl 5\n}\ncache"
KUBERNETES_DEFAULTS: Final = "ttl 30\n}\ncache 30"
"""The Corefile of Kubernetes' documentation: an answer, also that there is none, is remembered for 30 s."""
READY_PORT: Final = 8181
_START_SECONDS: Final = 30.0


@asynccontextmanager
async def a_name_server(plane: ControlPlane, network: PodNetwork, settings: str) -> AsyncGenerator[None]:
    program = (await asyncio.to_thread(provision.provide, ["coredns"]))["coredns"]
    corefile = plane.folder / "Corefile"
    kubeconfig = plane.kubeconfig_for("coredns")
    corefile.write_text(
        f".:53 {{\nready :{READY_PORT}\nerrors\n"
        f"kubernetes cluster.local {{\nkubeconfig {kubeconfig} firebolt-local\n{settings}\n}}\n"
    )
    with (plane.folder / "coredns.log").open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *network.prefix, program, "-conf", str(corefile), stdout=output, stderr=output
        )
    try:
        await _until_ready(process, network, plane.folder)
        yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _until_ready(process: asyncio.subprocess.Process, network: PodNetwork, folder: Path) -> None:
    client = Client("127.0.0.1", READY_PORT, f"/proc/{network.relay_pid}/ns/net")
    try:
        async with asyncio.timeout(_START_SECONDS):
            while process.returncode is None:
                try:
                    if (await client.get("/ready")).status == 200:
                        return
                except OSError:
                    pass  # it does not listen yet
                await asyncio.sleep(0.05)
    finally:
        client.close()
    raise RuntimeError(f"CoreDNS ended: {(folder / 'coredns.log').read_text()[-2000:]}")
