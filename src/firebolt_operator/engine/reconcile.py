"""One engine, one pass: observe everything, decide purely, write in a crash-safe order, one status write."""

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import EventReason
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.engine import deletion
from firebolt_operator.engine.conditions import with_verdict
from firebolt_operator.engine.engine_pass import EnginePass
from firebolt_operator.engine.surroundings import Surroundings
from firebolt_operator.engine.views import decode_child
from firebolt_operator.errors import FencedError, OperatorError, UnreadableError
from firebolt_operator.refs import Ref, Warn
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.objects import Key

UNREADABLE = Warn(
    reason=EventReason.UNREADABLE,
    action="Reconcile",
    note="the operator cannot decode this engine (is something in it nested very deeply?) and leaves it and all that it"
    " has as they are; edit it, or delete it",
)


class EngineReconciler:
    def __init__(self, surroundings: Surroundings) -> None:
        self._around = surroundings

    async def reconcile(self, key: Key) -> Outcome:
        try:
            engine = await self._around.observer.engine(*key)
        except UnreadableError:
            return await self._unreadable(Ref(FIREBOLT_ENGINES, *key))
        if engine is None:
            self._around.recorder.forget(*key)
            return Outcome("gone")
        if engine.metadata.is_deleting:
            # Before the finalizer: the API server takes no new finalizer on an object that is being deleted.
            return await self._delete(engine)
        if names.FINALIZER_ENGINE not in engine.metadata.finalizers:
            await deletion.add_finalizer(engine, self._around.writer)
            return Outcome("finalizer added", again=True)
        return await EnginePass(self._around, engine).run()

    async def _unreadable(self, ref: Ref) -> Outcome:
        """All that its owner gets to see is an event; and it must be possible to delete it."""
        body = await self._around.reader.get_raw(ref)
        if body is None:
            return Outcome("gone")
        metadata = decode_child(body).metadata
        if metadata.is_deleting:
            return await self._delete(FireboltEngine(metadata=metadata))
        await self._around.events.warn(ref, metadata.uid, UNREADABLE, now=self._around.clock.now())
        return Outcome("set aside: it cannot be decoded")

    async def _delete(self, engine: FireboltEngine) -> Outcome:
        metadata = engine.metadata
        if names.FINALIZER_ENGINE not in metadata.finalizers:
            return Outcome("waiting for the finalizers of others")
        around = self._around
        cleanup = await deletion.delete_children(engine, around.reader, around.writer)
        if cleanup.errors:
            raise deletion.cleanup_error(cleanup)
        if cleanup.lingering:
            engine = await self._tell_lingering(engine, cleanup)
        await deletion.remove_finalizer(engine, around.writer)
        around.recorder.forget(metadata.namespace, metadata.name)
        return Outcome("deleted")

    async def _tell_lingering(self, engine: FireboltEngine, cleanup: deletion.Cleanup) -> FireboltEngine:
        """Only tells: an engine is never kept because of somebody else's finalizer."""
        around, metadata, now = self._around, engine.metadata, self._around.clock.now()
        ref = Ref(FIREBOLT_ENGINES, metadata.namespace, metadata.name)
        await around.events.warn(ref, metadata.uid, deletion.lingering_warning(cleanup), now=now)
        verdict = deletion.lingering_verdict(cleanup)
        status = with_verdict(
            engine.status, names.CONDITION_READY, verdict, spec_generation=metadata.generation, now=now
        )
        try:
            return await around.write_status(engine, status)
        except FencedError:
            raise
        except OperatorError:
            around.log.exception("status of a deleted engine not written", extra={"engine": metadata.name})
            return engine
