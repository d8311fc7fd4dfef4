"""Who rolls, and who waits, for the same cause? As the statuses say, and this process has just decided."""

from collections.abc import Callable
from dataclasses import dataclass, field

from firebolt_operator.api.engine import EngineSpec, FireboltEngine
from firebolt_operator.engine.decide.rolling import (
    UNLIMITED,
    Origin,
    Standing,
    Turn,
    gets_on,
    has_room,
    is_overdue,
    origin_of,
    standing_of,
)
from firebolt_operator.engine.inputs import ClassInfo, PresetInfo
from firebolt_operator.engine.views import Child
from firebolt_operator.manifests.template_images import engine_image
from firebolt_operator.reconciling.indexes import BY_CAUSE
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.controller import Requests
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.work_queue import Priority


@dataclass(slots=True)
class RollingSlots:
    engines: Cache[FireboltEngine]
    most: int  # 0: nobody counts
    default_image: str
    clock: Clock
    is_forgotten: Callable[
        [], bool
    ]  # whether the API server drops what an engine rolls for: then nobody counts, either
    _waited: dict[Key, float] = field(default_factory=dict[Key, float], init=False)  # when it last had to
    _rolling: dict[Key, float] = field(default_factory=dict[Key, float], init=False)  # since when it was seen to
    _claimed: dict[Key, str] = field(default_factory=dict[Key, str], init=False)  # whose status is being written

    def origin(
        self,
        engine: FireboltEngine,
        spec: EngineSpec,
        engine_class: ClassInfo | None,
        preset: PresetInfo | None = None,
    ) -> Origin | None:
        if not self.most or self.is_forgotten():
            return None
        return origin_of(
            spec,
            engine_class,
            preset,
            namespace=engine.metadata.namespace,
            generation=engine.metadata.generation,
            default_image=self.default_image,
        )

    def turn(self, engine: FireboltEngine, origin: Origin | None, statefulset: Child | None) -> Turn:
        if origin is None or statefulset is None:
            return UNLIMITED
        cause = origin.cause(engine.status, engine_image(statefulset.whole_spec().get("template")))
        key = engine.metadata.namespace, engine.metadata.name
        turn = Turn(cause=cause, has_room=not cause or self.has_room(key, cause))
        # Once it has not got on, nobody waits behind it until it waits for something else.
        if cause != engine.status.rollout_cause or (not turn.has_room and self._counts(key, Standing.WAITING)):
            self._waited[key] = self.clock.monotonic()
        return turn

    def has_room(self, me: Key, cause: str) -> bool:
        others = {key: Standing.ROLLING for key, claimed in self._claimed.items() if claimed == cause}
        for key, their in self._known(cause):
            others.setdefault(key, their)
        others.pop(me, None)
        seen = [(key, self._seen_by(me, key, their)) for key, their in others.items() if self._counts(key, their)]
        return has_room(me, seen, self.most)

    def _seen_by(self, me: Key, key: Key, their: Standing) -> Standing:
        if their is not Standing.ROLLING:
            return their
        now = self.clock.monotonic()
        is_late = is_overdue(self._rolling.setdefault(key, now), now)
        return Standing.OVERDUE if is_late and key[0] != me[0] else their

    def _counts(self, key: Key, their: Standing) -> bool:
        now = self.clock.monotonic()
        return their is Standing.ROLLING or gets_on(self._waited.setdefault(key, now), now)

    def claim(self, me: Key, cause: str) -> None:
        """Until it is in the status, where all can see it: two passes must not take the last place both."""
        self._claimed[me] = cause

    def release(self, me: Key) -> None:
        self._claimed.pop(me, None)

    def changed(self, old: FireboltEngine | None, new: FireboltEngine | None) -> Requests:
        """Whoever leaves its place makes room for those who wait for the same."""
        if new is None and old is not None:
            self._waited.pop((old.metadata.namespace, old.metadata.name), None)
        if old is not None and (new is None or _standing(new) is not Standing.ROLLING):
            self._rolling.pop((old.metadata.namespace, old.metadata.name), None)
        if old is None or (left := _standing(old)) is None:
            return ()
        cause = old.status.rollout_cause
        if new is not None and (new.status.rollout_cause, _standing(new)) == (cause, left):
            return ()
        waiting = sorted(
            key for key, their in self._known(cause) if their is Standing.WAITING and self._counts(key, their)
        )
        return [(key, Priority.EVENT) for key in waiting[: self.most]]

    def _known(self, cause: str) -> list[tuple[Key, Standing]]:
        found = self.engines.by_index(BY_CAUSE, cause)
        placed = (((each.metadata.namespace, each.metadata.name), _standing(each)) for each in found)
        return [(key, their) for key, their in placed if their is not None]


def _standing(engine: FireboltEngine) -> Standing | None:
    """One that is deleted rolls no more, however long the finalizer of somebody else keeps it."""
    return None if engine.metadata.is_deleting else standing_of(engine.status)
