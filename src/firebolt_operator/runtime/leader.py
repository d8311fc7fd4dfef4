"""Who leads? Whoever holds the Lease, and renews it in time."""

import logging
import random
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Never, Protocol

from firebolt_operator.errors import AlreadyExistsError, ConflictError, FencedError, NotFoundError, OperatorError
from firebolt_operator.kube.ports import Leases
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.fence import LeaseFence

RELEASE_TIMEOUT: Final = 2.0  # seconds

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTerms:
    ref: Ref
    identity: str
    duration: float = 15.0  # seconds that others wait after they saw the last renewal
    renew_deadline: float = 10.0  # seconds after which the holder gives up by itself
    retry_period: float = 2.0

    @property
    def look_period(self) -> float:
        """Of candidates: one who looks as seldom as a holder renews leaves a lease that was freed lying for as long."""
        return self.retry_period / 2


class LeaderRecorder(Protocol):
    """Told of leadership, for metrics."""

    def leading(self, is_leader: bool, /) -> None: ...
    def slow_path(self) -> None: ...


@dataclass(slots=True)
class Election:
    terms: LeaseTerms
    leases: Leases
    fence: LeaseFence
    clock: Clock
    rng: random.Random
    recorder: LeaderRecorder
    _lease: Manifest = field(default_factory=dict[str, Any], init=False)  # as last read or written
    _seen_at: float = field(default=0.0, init=False)  # when it last changed

    async def acquire(self) -> None:
        """Wait until we lead."""
        self.recorder.leading(False)
        log.info("waiting for the lease", extra={"lease": self.terms.ref, "identity": self.terms.identity})
        while not await self._try_to_take():
            await self.clock.sleep(self.terms.look_period * self.rng.uniform(1.0, 1.2))
        self.recorder.leading(True)
        log.info("leading", extra={"lease": self.terms.ref, "identity": self.terms.identity})

    async def hold(self) -> Never:
        """Renew for ever; raises FencedError once the lease is lost."""
        try:
            while True:
                await self.clock.sleep(min(self.terms.retry_period, self.fence.remaining()))
                await self._try_to_renew(self.fence.remaining())
        finally:
            self.recorder.leading(False)

    async def release(self) -> None:
        """Let another lead at once. To be called when nothing of ours writes any more."""
        try:
            self.fence.remaining()
        except FencedError:
            return
        if self.fence.is_in_doubt:
            # What we gave up may yet be stored: whoever leads next must not have begun by then.
            self.fence.close()
            log.warning("lease not released, since a write went unanswered; others wait until it expires")
            return
        self.fence.stand_down()
        freed = self._with_spec(self._lease, holderIdentity="")
        try:
            await self.leases.update(freed, timeout_seconds=RELEASE_TIMEOUT)
        except OperatorError as err:
            log.warning("lease not released; others wait until it expires", extra={"error": err})

    async def _try_to_take(self) -> bool:
        try:
            found = await self.leases.get(self.terms.ref, timeout_seconds=self._timeout)
            if found is None:
                return await self._write_new()
            self._notice(found)
            return self._is_free() and await self._take_over()
        except (ConflictError, AlreadyExistsError):
            return False  # another candidate was quicker
        except OperatorError as err:
            log.warning("lease not reached", extra={"lease": self.terms.ref, "error": err})
            return False

    async def _write_new(self) -> bool:
        ref, now = self.terms.ref, _micro_time(self.clock.now())
        lease: Manifest = {
            "apiVersion": ref.resource.api_version,
            "kind": ref.resource.kind,
            "metadata": {"name": ref.name, "namespace": ref.namespace},
        }
        lease = self._with_spec(lease, **self._claim(now), leaseTransitions=0)
        sent_at = self.clock.monotonic()
        self._won(await self.leases.create(lease, timeout_seconds=self._timeout), sent_at)
        return True

    async def _take_over(self) -> bool:
        spec, now = self._lease.get("spec", {}), _micro_time(self.clock.now())
        changes = spec.get("leaseTransitions", 0) + (spec.get("holderIdentity") != self.terms.identity)
        lease = self._with_spec(self._lease, **self._claim(now), leaseTransitions=changes)
        sent_at = self.clock.monotonic()
        self._won(await self.leases.update(lease, timeout_seconds=self._timeout), sent_at)
        return True

    async def _try_to_renew(self, remaining: float) -> None:
        lease = self._with_spec(self._lease, renewTime=_micro_time(self.clock.now()))
        sent_at = self.clock.monotonic()
        try:
            self._won(await self.leases.update(lease, timeout_seconds=min(self._timeout, remaining)), sent_at)
        except ConflictError:
            # Either an earlier renewal happened though its answer was lost, or someone else holds the lease.
            self.recorder.slow_path()
            await self._look_again()
        except NotFoundError as err:
            self.fence.close()
            raise FencedError("the lease was deleted") from err
        except OperatorError as err:
            log.warning("lease not renewed", extra={"lease": self.terms.ref, "error": err})

    async def _look_again(self) -> None:
        try:
            found = await self.leases.get(self.terms.ref, timeout_seconds=min(self._timeout, self.fence.remaining()))
        except FencedError:
            raise
        except OperatorError as err:
            log.warning("lease not read", extra={"lease": self.terms.ref, "error": err})
            return
        holder = found.get("spec", {}).get("holderIdentity") if found else None
        if found is None or holder != self.terms.identity:
            self.fence.close()
            raise FencedError(f"the lease was taken by {holder!r}")
        self._notice(found)

    @property
    def _timeout(self) -> float:
        """Half the deadline, so that one request into the void leaves time for another."""
        return self.terms.renew_deadline / 2

    def _claim(self, now: str) -> dict[str, Any]:
        return {
            "holderIdentity": self.terms.identity,
            "leaseDurationSeconds": max(int(self.terms.duration), 1),
            "acquireTime": now,
            "renewTime": now,
        }

    def _with_spec(self, lease: Manifest, **changes: object) -> Manifest:
        return {**lease, "spec": {**lease.get("spec", {}), **changes}}

    def _won(self, lease: Manifest, sent_at: float) -> None:
        self._lease = lease
        self.fence.renewed(sent_at)

    def _notice(self, lease: Manifest) -> None:
        if _version(lease) != _version(self._lease):
            self._seen_at = self.clock.monotonic()
        self._lease = lease

    def _is_free(self) -> bool:
        """Times written by others are not compared with our clock: only how long the lease has not changed counts."""
        spec = self._lease.get("spec", {})
        if spec.get("holderIdentity", "") in {"", self.terms.identity}:
            return True
        duration = max(self.terms.duration, float(spec.get("leaseDurationSeconds", 0)))
        return self.clock.monotonic() - self._seen_at >= duration


def _version(lease: Manifest) -> str:
    return str(lease.get("metadata", {}).get("resourceVersion", ""))


def _micro_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
