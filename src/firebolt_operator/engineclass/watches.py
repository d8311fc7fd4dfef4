"""Which shared objects does a change concern? Those that an engine turns to or leaves; the object itself."""

from collections.abc import Callable, Iterable
from typing import Protocol

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.names import PRESET_NAME
from firebolt_operator.runtime.controller import Requests
from firebolt_operator.runtime.objects import Aside, Key
from firebolt_operator.runtime.work_queue import Priority


class Guarded(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


def engine_changed(old: FireboltEngine | None, new: FireboltEngine | None) -> Requests:
    """For classes: an engine that turns to another one changes the count of both."""
    return _left_and_entered(_class_key, old, new)


def engine_of_cluster_changed(old: FireboltEngine | None, new: FireboltEngine | None) -> Requests:
    """For classes of the whole cluster: one that waits for its last engine need not wait any longer."""
    return _left_and_entered(_cluster_key, old, new)


def engine_of_namespace_changed(old: FireboltEngine | None, new: FireboltEngine | None) -> Requests:
    """For presets: whoever comes, or goes, changes the count."""
    return _left_and_entered(_preset_key, old, new)


def _left_and_entered(
    key_of: Callable[[FireboltEngine], Key | None], old: FireboltEngine | None, new: FireboltEngine | None
) -> Requests:
    before, after = key_of(old) if old else None, key_of(new) if new else None
    if before == after:
        return ()
    return tuple((key, Priority.EVENT) for key in (before, after) if key is not None)


def _class_key(engine: FireboltEngine) -> Key | None:
    if engine.spec is None or not engine.spec.engine_class_ref:
        return None
    return engine.metadata.namespace, engine.spec.engine_class_ref


def _cluster_key(engine: FireboltEngine) -> Key | None:
    named = _class_key(engine)
    return ("", named[1]) if named else None


def _preset_key(engine: FireboltEngine) -> Key | None:
    return engine.metadata.namespace, PRESET_NAME


def guarded_changed(old: Guarded | None, new: Guarded | None) -> Requests:
    found = new or old
    if found is None or (old is not None and new is not None and _own_facts(old) == _own_facts(new)):
        return ()
    return (((found.metadata.namespace, found.metadata.name), Priority.EVENT),)


def _own_facts(guarded: Guarded) -> tuple[object, ...]:
    metadata = guarded.metadata
    return metadata.generation, metadata.deletion_timestamp, metadata.finalizers, metadata.uid


def aside_guarded(aside: Aside) -> Iterable[Key]:
    return (aside.header.key,)
