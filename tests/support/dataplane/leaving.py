"""How a gateway pod stops, as the kubelet does it: the hook, then the signal."""

import asyncio
import signal

from firebolt_operator.gateway.envoy.clusters import LOOPBACK
from firebolt_operator.gateway.envoy_container import envoy_lifecycle
from tests.support.dataplane.rig import Rig

HANG_SECONDS = 60.0  # beyond what the hook may take


async def run_hook(rig: Rig, grace_seconds: int = 15) -> float:
    """The hook as rendered, on this rig's address; seconds it took."""
    rendered = envoy_lifecycle(grace_seconds)["preStop"]["exec"]["command"]
    command = [part.replace(LOOPBACK, rig.address) for part in rendered]
    begun = asyncio.get_running_loop().time()
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
    try:
        async with asyncio.timeout(grace_seconds + HANG_SECONDS):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return asyncio.get_running_loop().time() - begun


async def leave(rig: Rig, grace_seconds: int = 15) -> float:
    """All of it; what still runs when Envoy is told to stop is cut."""
    took = await run_hook(rig, grace_seconds)
    rig.envoy.process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(HANG_SECONDS):
        assert await rig.envoy.process.wait() == 0
    return took
