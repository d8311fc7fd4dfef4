"""One class, one pass: counts its engines, judges its template, guards its deletion. Owns no objects."""

from dataclasses import dataclass
from datetime import timedelta

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.engineclass.decide import decide_status, is_news, ref_of
from firebolt_operator.errors import SpecRejectedError, UnreadableError
from firebolt_operator.kube.ports import Reader, Scope, Writer
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.policy.class_checks import count_bound_engines
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.live import fetch_live
from firebolt_operator.runtime.objects import Key
from firebolt_operator.status_write import ENGINE_CLASS_STATUS, put_status

REST = timedelta(seconds=30)


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

    async def reconcile(self, key: Key) -> Outcome:
        try:
            engine_class = await self._class(key)
        except UnreadableError:
            return await self._unreadable(Ref(FIREBOLT_ENGINE_CLASSES, *key))
        if engine_class is None:
            return Outcome("gone")
        has_finalizer = names.FINALIZER_ENGINE_CLASS in engine_class.metadata.finalizers
        if engine_class.metadata.is_deleting:
            return await self._guard_deletion(engine_class) if has_finalizer else Outcome("waiting for others")
        if not has_finalizer:
            await self._patch_finalizers(
                engine_class, [*engine_class.metadata.finalizers, names.FINALIZER_ENGINE_CLASS]
            )
            return Outcome("finalizer added", again=True)
        await self._tell(engine_class, await self._engines_to_tell_of(engine_class))
        return Outcome("judged", look_again_after=REST)

    async def _class(self, key: Key) -> FireboltEngineClass | None:
        if self.classes.is_suspect(key):
            return await fetch_live(self.classes, self.reader, Ref(FIREBOLT_ENGINE_CLASSES, *key))
        return self.classes.known(key)

    async def _unreadable(self, ref: Ref) -> Outcome:
        """Its engines are told; nothing is judged or written, but it must be possible to delete it."""
        body = await self.reader.get_raw(ref)
        if body is None:
            return Outcome("gone")
        metadata = msgspec.json.decode(body, type=_Outline).metadata
        if not metadata.is_deleting or names.FINALIZER_ENGINE_CLASS not in metadata.finalizers:
            return Outcome("set aside: it cannot be decoded")
        engine_class = FireboltEngineClass(metadata=metadata)
        bound = await self._bound_engines(engine_class)
        if bound:
            return Outcome(f"deletion waits for {bound} engine(s)", look_again_after=REST)
        return await self._release(engine_class)

    async def _engines_to_tell_of(self, engine_class: FireboltEngineClass) -> int:
        """As the guard counts them: what the cache could not read may name this class all the same."""
        metadata = engine_class.metadata
        if any(aside.header.metadata.namespace == metadata.namespace for aside in self.engines.set_aside()):
            return await self._bound_engines(engine_class)
        cached = self.engines.by_index("class", f"{metadata.namespace}/{metadata.name}")
        return count_bound_engines(ref_of(engine_class), cached)

    async def _guard_deletion(self, engine_class: FireboltEngineClass) -> Outcome:
        """Live: a watch selector may hide an engine from the cache, and a released finalizer is gone."""
        bound = await self._bound_engines(engine_class)
        if bound:
            await self._tell(engine_class, bound)
            return Outcome(f"deletion waits for {bound} engine(s)", look_again_after=REST)
        return await self._release(engine_class)

    async def _bound_engines(self, engine_class: FireboltEngineClass) -> int:
        """An engine that is set aside still shows which class it names; one that does not even do that is counted."""
        scope = Scope(resource=FIREBOLT_ENGINES, namespace=engine_class.metadata.namespace)
        engines, unknown = list[FireboltEngine](), 0
        async for page in self.reader.pages(scope):
            for item in page.items:
                try:
                    engines.append(parse_engine(item))
                except SpecRejectedError:
                    unknown += 1
        return unknown + count_bound_engines(ref_of(engine_class), engines)

    async def _release(self, engine_class: FireboltEngineClass) -> Outcome:
        rest = [each for each in engine_class.metadata.finalizers if each != names.FINALIZER_ENGINE_CLASS]
        await self._patch_finalizers(engine_class, rest)
        return Outcome("released")

    async def _patch_finalizers(self, engine_class: FireboltEngineClass, finalizers: list[str]) -> None:
        metadata = engine_class.metadata
        patch = {"metadata": {"finalizers": finalizers, "resourceVersion": metadata.resource_version}}
        await self.writer.merge_patch(ref_of(engine_class), patch)

    async def _tell(self, engine_class: FireboltEngineClass, bound_engines: int) -> None:
        status = decide_status(engine_class, bound_engines, bounds=self.bounds, now=self.clock.now())
        if is_news(engine_class.status, status):
            await put_status(ENGINE_CLASS_STATUS, engine_class, status, reader=self.reader, writer=self.writer)
