"""How much memory does Envoy use? Read every few seconds; a failed reading keeps the last one."""

from dataclasses import dataclass
from typing import Final, Never

from firebolt_operator.runtime.clock import Clock
from firebolt_operator.wake.decide.capacity import HoldLimits, hold_cap
from firebolt_operator.wake.envoy_admin import EnvoyAdmin

REFRESH_SECONDS: Final = 5.0


@dataclass(slots=True)
class EnvoyMemory:
    admin: EnvoyAdmin
    limits: HoldLimits
    clock: Clock
    name: str = "envoy memory"
    allocated: int | None = None  # bytes; None until Envoy was first heard of

    def cap(self) -> int:
        return hold_cap(self.limits, self.allocated)

    async def run(self) -> Never:
        while True:
            await self.refresh()
            await self.clock.sleep(REFRESH_SECONDS)

    async def refresh(self) -> None:
        found = await self.admin.allocated_memory()
        if found is not None:
            self.allocated = found
