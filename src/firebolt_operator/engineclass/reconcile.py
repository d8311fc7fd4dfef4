"""One class, one pass: counts its engines, judges its template, guards its deletion. Owns no objects."""

from dataclasses import dataclass, field
from datetime import timedelta

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES
from firebolt_operator.engineclass.decide.status import decide_status, is_news
from firebolt_operator.errors import UnreadableError
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.look_again import After, AtOnce
from firebolt_operator.manifests.references import ref_to
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.policy.class_checks import count_bound_engines
from firebolt_operator.reconciling.bound_engines import fetch_bound_engines
from firebolt_operator.reconciling.finalizers import add_finalizer, remove_finalizer
from firebolt_operator.reconciling.indexes import BY_CLASS, term
from firebolt_operator.reconciling.reads import known_or_live
from firebolt_operator.reconciling.status import ENGINE_CLASS_STATUS, put_status
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.objects import Key

REST = After(timedelta(seconds=30))


class _Outline(msgspec.Struct, frozen=True):
    metadata: ObjectMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineClassReconciler:
    classes: Cache[FireboltEngineClass]
    engines: Cache[FireboltEngine]
    bounds: ResourceBounds
    reader: Reader
    writer: Writer
    clock: Clock
    request_time: timedelta = timedelta(0)
    """How long a request may be under way that still found the class alive: an engine that names it may come of it."""
    _deleting_since: dict[str, float] = field(default_factory=dict[str, float], init=False)  # by uid, as seen here

    async def reconcile(self, key: Key) -> Outcome:
        try:
            engine_class = await known_or_live(self.classes, self.reader, Ref(FIREBOLT_ENGINE_CLASSES, *key))
        except UnreadableError:
            return await self._unreadable(Ref(FIREBOLT_ENGINE_CLASSES, *key))
        if engine_class is None:
            return Outcome("gone")
        has_finalizer = names.FINALIZER_ENGINE_CLASS in engine_class.metadata.finalizers
        if engine_class.metadata.is_deleting:
            return await self._guard_deletion(engine_class) if has_finalizer else Outcome("waiting for others")
        if not has_finalizer:
            ref = Ref(FIREBOLT_ENGINE_CLASSES, *key)
            await add_finalizer(ref, engine_class.metadata, names.FINALIZER_ENGINE_CLASS, self.writer)
            return Outcome("finalizer added", AtOnce())
        await self._tell(engine_class, await self._engines_to_tell_of(engine_class))
        return Outcome("judged", REST, is_settled=True)

    async def _unreadable(self, ref: Ref) -> Outcome:
        """Its engines are told; nothing is judged or written, but it must be possible to delete it."""
        body = await self.reader.get_raw(ref)
        if body is None:
            return Outcome("gone")
        metadata = msgspec.json.decode(body, type=_Outline).metadata
        if not metadata.is_deleting or names.FINALIZER_ENGINE_CLASS not in metadata.finalizers:
            return Outcome("set aside: it cannot be decoded")
        return await self._guard_deletion(FireboltEngineClass(metadata=metadata), is_readable=False)

    async def _engines_to_tell_of(self, engine_class: FireboltEngineClass) -> int:
        """As the guard counts them: what the cache could not read may name this class all the same."""
        metadata = engine_class.metadata
        if self.engines.set_aside(metadata.namespace):
            return await self._bound_engines(engine_class)
        cached = self.engines.by_index(BY_CLASS, term(metadata.namespace, metadata.name))
        return count_bound_engines(_ref(engine_class), cached)

    async def _guard_deletion(self, engine_class: FireboltEngineClass, *, is_readable: bool = True) -> Outcome:
        """Live: a watch selector may hide an engine from the cache, and a released finalizer is gone."""
        under_way = self._requests_under_way(engine_class.metadata.uid)
        bound = await self._bound_engines(engine_class)
        if bound:
            if is_readable:
                await self._tell(engine_class, bound)
            return Outcome(f"deletion waits for {bound} engine(s)", REST)
        if under_way > timedelta(0):
            return Outcome("deletion waits for requests that found the class alive", After(under_way))
        return await self._release(engine_class)

    def _requests_under_way(self, uid: str) -> timedelta:
        """For how long yet. By our own clock, from when we saw the deletion: the server's may differ."""
        now = self.clock.monotonic()
        since = self._deleting_since.setdefault(uid, now)
        return self.request_time - timedelta(seconds=now - since)

    async def _bound_engines(self, engine_class: FireboltEngineClass) -> int:
        return await fetch_bound_engines(_ref(engine_class), self.reader)

    async def _release(self, engine_class: FireboltEngineClass) -> Outcome:
        await remove_finalizer(_ref(engine_class), engine_class.metadata, names.FINALIZER_ENGINE_CLASS, self.writer)
        self._deleting_since.pop(engine_class.metadata.uid, None)
        return Outcome("released")

    async def _tell(self, engine_class: FireboltEngineClass, bound_engines: int) -> None:
        status = decide_status(engine_class, bound_engines, bounds=self.bounds, now=self.clock.now())
        if is_news(engine_class.status, status):
            await put_status(ENGINE_CLASS_STATUS, engine_class, status, reader=self.reader, writer=self.writer)


def _ref(engine_class: FireboltEngineClass) -> Ref:
    return ref_to(FIREBOLT_ENGINE_CLASSES, engine_class.metadata)
