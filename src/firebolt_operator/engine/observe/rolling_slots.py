"""Who rolls, and who waits, for the same cause? As the statuses say, and this process has just decided."""

from dataclasses import dataclass, field

from firebolt_operator.api.engine import EngineSpec, FireboltEngine
from firebolt_operator.engine.decide.rolling import (
    UNLIMITED,
    Origin,
    Standing,
    Turn,
    engine_image,
    has_room,
    origin_of,
    standing,
)
from firebolt_operator.engine.inputs import ClassInfo
from firebolt_operator.engine.views import Child
from firebolt_operator.reconciling.indexes import BY_CAUSE
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.controller import Requests
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.work_queue import Priority


@dataclass(slots=True)
class RollingSlots:
    engines: Cache[FireboltEngine]
    most: int  # 0: nobody counts
    default_image: str
    _claimed: dict[Key, str] = field(default_factory=dict[Key, str], init=False)  # whose status is being written

    def origin(self, engine: FireboltEngine, spec: EngineSpec, engine_class: ClassInfo | None) -> Origin | None:
        if not self.most:
            return None
        namespace, generation = engine.metadata.namespace, engine.metadata.generation
        return origin_of(
            spec, engine_class, namespace=namespace, generation=generation, default_image=self.default_image
        )

    def turn(self, engine: FireboltEngine, origin: Origin | None, statefulset: Child | None) -> Turn:
        if origin is None or statefulset is None:
            return UNLIMITED
        cause = origin.cause(engine.status, engine_image(statefulset.spec.get("template")))
        key = engine.metadata.namespace, engine.metadata.name
        return Turn(cause=cause, has_room=not cause or self.has_room(key, cause))

    def has_room(self, me: Key, cause: str) -> bool:
        others = {key: Standing.ROLLING for key, claimed in self._claimed.items() if claimed == cause}
        for key, their in self._known(cause):
            others.setdefault(key, their)
        others.pop(me, None)
        return has_room(me, others.items(), self.most)

    def claim(self, me: Key, cause: str) -> None:
        """Until it is in the status, where all can see it: two passes must not take the last place both."""
        self._claimed[me] = cause

    def release(self, me: Key) -> None:
        self._claimed.pop(me, None)

    def changed(self, old: FireboltEngine | None, new: FireboltEngine | None) -> Requests:
        """Whoever leaves its place makes room for those who wait for the same."""
        if old is None or (left := standing(old.status)) is None:
            return ()
        cause = old.status.rollout_cause
        if new is not None and (new.status.rollout_cause, standing(new.status)) == (cause, left):
            return ()
        waiting = sorted(key for key, their in self._known(cause) if their is Standing.WAITING)
        return [(key, Priority.EVENT) for key in waiting[: self.most]]

    def _known(self, cause: str) -> list[tuple[Key, Standing]]:
        found = self.engines.by_index(BY_CAUSE, cause)
        placed = (((each.metadata.namespace, each.metadata.name), standing(each.status)) for each in found)
        return [(key, their) for key, their in placed if their is not None]
