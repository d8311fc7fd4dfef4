"""What an engine's rollout looks like from the gateway: DNS moves, the old pods drain and then die."""

import asyncio
from dataclasses import dataclass, field

from tests.support.dataplane.engine_pod import EnginePod
from tests.support.dataplane.rig import Rig, eventually


@dataclass(slots=True)
class Rollout:
    rig: Rig
    engine: str = "eng"
    pods_per_generation: int = 2
    serving: list[EnginePod] = field(default_factory=list[EnginePod])

    async def begin(self) -> "Rollout":
        self.serving = await self.rig.generation(self.pods_per_generation)
        self.rig.point(self.engine, self.serving)
        await self.rig.client.query("/?id=warm-up", self.engine)
        return self

    async def switch(self) -> list[EnginePod]:
        """A new generation takes over; answers with the old one, which still runs."""
        old, self.serving = self.serving, await self.rig.generation(self.pods_per_generation)
        self.rig.point(self.engine, self.serving)
        return old


async def retire(old: list[EnginePod], *, limit: float = 10.0) -> None:
    """As Kubernetes stops pods: told first, gone when their queries are done."""
    for pod in old:
        pod.begin_shutdown()
    await eventually(lambda: _is_idle(old), limit, "the old pods are idle")
    # Long enough for what was sent before the health check noticed; an engine waits 55 s.
    await asyncio.sleep(1.5)
    for pod in old:
        pod.die()


async def _is_idle(pods: list[EnginePod]) -> bool:
    return not any(pod.running for pod in pods)
