"""One Lease in memory, with the API server's rule about versions, and with a network that loses and delays."""

from collections.abc import Callable
from dataclasses import dataclass, field

from firebolt_operator.errors import AlreadyExistsError, ConflictError, NotFoundError, UnansweredError
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.support.manual_clock import ManualClock

LEASE = Ref(Resource("coordination.k8s.io", "v1", "leases", "Lease"), "operators", "leader")


def no_delay() -> float:
    return 0.0


@dataclass
class MemoryLeases:
    clock: ManualClock
    stored: Manifest | None = None
    version: int = 0
    delay: Callable[[], float] = no_delay  # seconds, once on the way there and once on the way back
    is_away: bool = False
    loses_answers: bool = False
    writes: list[str] = field(default_factory=list[str])  # holder of each

    async def get(self, ref: Ref, /, *, timeout_seconds: float) -> Manifest | None:
        assert ref == LEASE
        await self._travel(timeout_seconds)
        found = self.stored
        await self._travel(timeout_seconds)
        return found

    async def create(self, manifest: Manifest, /, *, timeout_seconds: float) -> Manifest:
        await self._travel(timeout_seconds)
        if self.stored is not None:
            raise AlreadyExistsError("lease exists", status=409)
        return await self._store(manifest, timeout_seconds)

    async def update(self, manifest: Manifest, /, *, timeout_seconds: float) -> Manifest:
        await self._travel(timeout_seconds)
        if self.stored is None:
            raise NotFoundError("no lease", status=404)
        if manifest["metadata"]["resourceVersion"] != self.stored["metadata"]["resourceVersion"]:
            raise ConflictError("someone else wrote")
        return await self._store(manifest, timeout_seconds)

    async def _store(self, manifest: Manifest, timeout_seconds: float) -> Manifest:
        self.version += 1
        stored: Manifest = {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": str(self.version)}}
        self.stored = stored
        self.writes.append(manifest["spec"]["holderIdentity"])
        if self.loses_answers:
            raise UnansweredError("connection reset")
        await self._travel(timeout_seconds)
        return stored

    async def _travel(self, timeout_seconds: float) -> None:
        if self.is_away:
            raise UnansweredError("connection refused")
        seconds = self.delay()
        if seconds:
            await self.clock.sleep(min(seconds, timeout_seconds))
        if seconds > timeout_seconds:
            raise UnansweredError("timed out")
