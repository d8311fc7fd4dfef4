"""Which classes does a change concern? An engine's, when it turns to another one; a class itself."""

from collections.abc import Iterable

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.runtime.controller import Requests
from firebolt_operator.runtime.objects import Aside, Key
from firebolt_operator.runtime.work_queue import Priority


def engine_changed(old: FireboltEngine | None, new: FireboltEngine | None) -> Requests:
    """For the class controller: an engine that turns to another class changes the count of both."""
    before, after = _class_key(old), _class_key(new)
    if before == after:
        return ()
    return tuple((key, Priority.EVENT) for key in (before, after) if key is not None)


def _class_key(engine: FireboltEngine | None) -> Key | None:
    if engine is None or engine.spec is None or not engine.spec.engine_class_ref:
        return None
    return engine.metadata.namespace, engine.spec.engine_class_ref


def class_changed(old: FireboltEngineClass | None, new: FireboltEngineClass | None) -> Requests:
    engine_class = new or old
    if engine_class is None or (old is not None and new is not None and _own_facts(old) == _own_facts(new)):
        return ()
    return (((engine_class.metadata.namespace, engine_class.metadata.name), Priority.EVENT),)


def _own_facts(engine_class: FireboltEngineClass) -> tuple[object, ...]:
    metadata = engine_class.metadata
    return engine_class.spec, metadata.generation, metadata.deletion_timestamp, metadata.finalizers, metadata.uid


def aside_class(aside: Aside) -> Iterable[Key]:
    return (aside.header.key,)
