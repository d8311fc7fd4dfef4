"""The life of an engine: it gets a finalizer, its passes, and a deletion that leaves nothing behind."""

import logging

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import EventReason
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.engine.act import deletion
from firebolt_operator.engine.decide.conditions import with_verdict
from firebolt_operator.engine.dependencies import EngineDependencies
from firebolt_operator.engine.reconcile import EnginePass
from firebolt_operator.engine.views import decode_child
from firebolt_operator.errors import FencedError, OperatorError, UnreadableError
from firebolt_operator.look_again import AtOnce
from firebolt_operator.manifests.references import ref_to
from firebolt_operator.reconciling.finalizers import add_finalizer, remove_finalizer
from firebolt_operator.refs import Ref, Warn
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.objects import Key

UNREADABLE = Warn(
    reason=EventReason.UNREADABLE,
    action="Reconcile",
    note="the operator cannot decode this engine (is something in it nested very deeply?) and leaves it and all that it"
    " has as they are; edit it, or delete it",
)


log = logging.getLogger("firebolt_operator.engine")


class EngineReconciler:
    def __init__(self, dependencies: EngineDependencies) -> None:
        self._dependencies = dependencies

    async def reconcile(self, key: Key) -> Outcome:
        try:
            engine = await self._dependencies.observer.engine(*key)
        except UnreadableError:
            return await self._unreadable(Ref(FIREBOLT_ENGINES, *key))
        if engine is None:
            self._forget(key)
            return Outcome("gone")
        if engine.metadata.is_deleting:
            # Before the finalizer: the API server takes no new finalizer on an object that is being deleted.
            return await self._delete(engine)
        if names.FINALIZER_ENGINE not in engine.metadata.finalizers:
            await add_finalizer(
                Ref(FIREBOLT_ENGINES, *key), engine.metadata, names.FINALIZER_ENGINE, self._dependencies.writer
            )
            return Outcome("finalizer added", AtOnce())
        return await EnginePass(self._dependencies, engine).run()

    def _forget(self, key: Key) -> None:
        self._dependencies.recorder.forget(*key)
        self._dependencies.scrapes.forget(key)

    def confirmed(self, key: Key) -> None:
        """A pass came to the same as the last one."""
        engine = self._dependencies.caches.engines.get(key)
        if engine is not None:
            self._dependencies.recorder.reconciled(engine, self._dependencies.clock.now())

    async def _unreadable(self, ref: Ref) -> Outcome:
        """All that its owner gets to see is an event; and it must be possible to delete it."""
        body = await self._dependencies.reader.get_raw(ref)
        if body is None:
            return Outcome("gone")
        metadata = decode_child(body).metadata
        if metadata.is_deleting:
            return await self._delete(FireboltEngine(metadata=metadata))
        await self._dependencies.warner.warn(metadata, UNREADABLE)
        return Outcome("set aside: it cannot be decoded")

    async def _delete(self, engine: FireboltEngine) -> Outcome:
        metadata = engine.metadata
        if names.FINALIZER_ENGINE not in metadata.finalizers:
            return Outcome("waiting for the finalizers of others")
        dependencies = self._dependencies
        cleanup = await deletion.delete_children(engine, dependencies.reader, dependencies.writer)
        await dependencies.budgets.remove(engine)
        if cleanup.errors:
            raise deletion.cleanup_error(cleanup)
        if cleanup.lingering:
            engine = await self._tell_lingering(engine, cleanup)
        await remove_finalizer(
            ref_to(FIREBOLT_ENGINES, metadata), engine.metadata, names.FINALIZER_ENGINE, dependencies.writer
        )
        self._forget((metadata.namespace, metadata.name))
        return Outcome("deleted")

    async def _tell_lingering(self, engine: FireboltEngine, cleanup: deletion.Cleanup) -> FireboltEngine:
        """Only tells: an engine is never kept because of somebody else's finalizer."""
        dependencies, metadata, now = self._dependencies, engine.metadata, self._dependencies.clock.now()
        await dependencies.warner.warn(metadata, deletion.lingering_warning(cleanup))
        verdict = deletion.lingering_verdict(cleanup)
        status = with_verdict(
            engine.status, names.CONDITION_READY, verdict, spec_generation=metadata.generation, now=now
        )
        try:
            return await dependencies.statuses.write(engine, status)
        except FencedError:
            raise
        except OperatorError:
            log.exception("status of a deleted engine not written", extra={"engine": metadata.name})
            return engine
