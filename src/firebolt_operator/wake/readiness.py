"""Is an engine ready to be queried? When it has a ready endpoint, and Envoy has had the time to find it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.objects import Aside
from firebolt_operator.wake.decide.slices import BY_ENGINE, SERVICE_LABEL, SliceView, engine_of

MOST_BLIND_SECONDS: Final = 90.0

Listener = Callable[[str], None]


@dataclass(slots=True, eq=False)
class Presence:
    """An engine that has ready endpoints; another one after each time it had none."""

    engine: str
    addresses: frozenset[str]
    appeared_at: float  # on the monotonic clock
    is_routable: bool  # Envoy can send queries there


class Readiness:
    """Level-triggered: each event only says which engine to look at anew, over all of its slices."""

    def __init__(
        self,
        cache: Cache[SliceView],
        clock: Clock,
        patience: timedelta,
        blind_seconds: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """After `patience` an engine counts as routable, whatever Envoy says: better its own answer than none.

        `blind_seconds` tells for how long the API server could neither be watched nor asked.
        """
        self._cache = cache
        self._blind_seconds = blind_seconds
        self._clock = clock
        self._patience = patience.total_seconds()
        self._present: dict[str, Presence] = {}
        self._when_ready: list[Listener] = []
        self._when_arriving: list[Listener] = []
        self._when_gone: list[Listener] = []
        cache.subscribe(self._changed)
        cache.subscribe_aside(self._set_aside)

    @property
    def is_synced(self) -> bool:
        """Whether what is known of endpoints may be trusted."""
        return self._cache.is_synced and self._blind_seconds() < MOST_BLIND_SECONDS

    def listen(
        self, *, ready: Listener | None = None, arriving: Listener | None = None, gone: Listener | None = None
    ) -> None:
        """`ready` is told when queries can go on, `arriving` when only Envoy is still to be asked, `gone` when the last
        endpoint went, whether or not Envoy ever knew it.
        """
        if ready is not None:
            self._when_ready.append(ready)
        if arriving is not None:
            self._when_arriving.append(arriving)
        if gone is not None:
            self._when_gone.append(gone)

    def is_ready(self, engine: str) -> bool:
        presence = self._present.get(engine)
        return presence is not None and self._is_settled(presence)

    def has_endpoints(self, engine: str) -> bool:
        return engine in self._present

    def is_known(self, engine: str) -> bool:
        """It has a Service: parked engines have an EndpointSlice as well, with nothing in it."""
        return engine in self._present or bool(self._cache.by_index(BY_ENGINE, engine))

    def arriving(self, engine: str) -> Presence | None:
        """The endpoints that Envoy may not know yet."""
        presence = self._present.get(engine)
        return None if presence is None or self._is_settled(presence) else presence

    def turn_ready(self, presence: Presence) -> None:
        """Unless the endpoints that this was found out about are gone already."""
        if self._present.get(presence.engine) is presence:
            presence.is_routable = True
            self._tell(self._when_ready, presence.engine)

    def ready_engines(self) -> int:
        return sum(1 for presence in self._present.values() if self._is_settled(presence))

    def _is_settled(self, presence: Presence) -> bool:
        return presence.is_routable or self._clock.monotonic() - presence.appeared_at >= self._patience

    def _changed(self, old: SliceView | None, new: SliceView | None) -> None:
        for engine in {view.engine for view in (old, new) if view is not None and view.engine}:
            self._look_at(engine)

    def _set_aside(self, aside: Aside) -> None:
        engine = _engine_of(aside)
        if engine:
            self._look_at(engine)

    def _look_at(self, engine: str) -> None:
        slices = self._cache.by_index(BY_ENGINE, engine)
        addresses = frozenset(address for each in slices for address in each.ready_addresses)
        if addresses or not any(_engine_of(aside) == engine for aside in self._cache.set_aside()):
            self._observe(engine, addresses)
        elif engine not in self._present:
            # What cannot be read may well have ready endpoints: better Envoy's own answer than none.
            self._present[engine] = Presence(engine, addresses, self._clock.monotonic(), is_routable=True)
            self._tell(self._when_ready, engine)

    def _observe(self, engine: str, addresses: frozenset[str]) -> None:
        presence = self._present.get(engine)
        if not addresses:
            if self._present.pop(engine, None) is not None:
                self._tell(self._when_gone, engine)
        elif presence is not None:
            # A running engine stays ready until nothing is left of it: a rollout must hold nobody.
            presence.addresses = addresses
        else:
            self._appear(engine, addresses)

    def _appear(self, engine: str, addresses: frozenset[str]) -> None:
        # What the first list brings has been there for a while, and Envoy beside us has just started.
        is_routable = not self._cache.is_synced
        self._present[engine] = Presence(engine, addresses, self._clock.monotonic(), is_routable)
        self._tell(self._when_ready if is_routable else self._when_arriving, engine)

    def _tell(self, listeners: list[Listener], engine: str) -> None:
        for listener in listeners:
            listener(engine)


def _engine_of(aside: Aside) -> str:
    return engine_of(aside.labels.get(SERVICE_LABEL, ""))
