"""One instance, one pass: observe everything, decide purely, write in a crash-safe order, one status write."""

from datetime import timedelta
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import EventReason
from firebolt_operator.api.serialise import parse_instance
from firebolt_operator.errors import UnreadableError
from firebolt_operator.instance import deletion, gateway_end
from firebolt_operator.instance.instance_pass import InstancePass
from firebolt_operator.instance.memory import Memory
from firebolt_operator.instance.observe import Observer
from firebolt_operator.instance.surroundings import InstanceSurroundings
from firebolt_operator.instance.views import decode_metadata
from firebolt_operator.refs import Ref, Warn
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.objects import Key

LOOK_AGAIN: Final = timedelta(seconds=1)  # while the pods of a deleted instance end; their events are not watched
UNREADABLE = Warn(
    reason=EventReason.UNREADABLE,
    action="Reconcile",
    note="the operator cannot decode this instance (is something in it nested very deeply?) and leaves it and all that"
    " it has as they are; edit it, or delete it",
)


class InstanceReconciler:
    """Made anew by every leader."""

    def __init__(self, surroundings: InstanceSurroundings) -> None:
        self._around = surroundings
        self._memories: dict[Key, Memory] = {}

    async def reconcile(self, key: Key) -> Outcome:
        observer = self._observer(key)
        try:
            instance = await observer.instance(key)
        except UnreadableError:
            return await self._unreadable(key)
        if instance is None:
            self._forget(key)
            return Outcome("gone")
        if instance.metadata.is_deleting:
            # Before the finalizer: the API server takes no new finalizer on an object that is being deleted.
            return await self._delete(key, instance)
        return await InstancePass(self._around, observer, instance).run()

    async def _unreadable(self, key: Key) -> Outcome:
        """All that its owner gets to see is an event; and it must be possible to delete it."""
        ref = Ref(self._around.caches.instances.resource, *key)
        body = await self._around.reader.get_raw(ref)
        if body is None:
            self._forget(key)
            return Outcome("gone")
        metadata = decode_metadata(body)
        if metadata.is_deleting:
            return await self._delete(key, parse_instance(body))
        await self._around.events.warn(ref, metadata.uid, UNREADABLE, now=self._around.clock.now())
        return Outcome("set aside: it cannot be decoded")

    async def _delete(self, key: Key, instance: FireboltInstance) -> Outcome:
        if names.FINALIZER_INSTANCE not in instance.metadata.finalizers:
            return Outcome("waiting for the finalizers of others")
        around = self._around
        left = await gateway_end.end_gateway(instance, around.reader, around.writer)
        if left and gateway_end.is_waited_for(instance, around.clock.now()):
            # Their queries still need what the sweep would take away.
            return Outcome(f"waiting for {left} gateway pods", look_again_after=LOOK_AGAIN)
        await deletion.delete_children(instance, self._around.reader, self._around.writer)
        await deletion.remove_finalizer(instance, self._around.writer)
        self._forget(key)
        return Outcome("deleted")

    def _observer(self, key: Key) -> Observer:
        around = self._around
        return Observer(
            caches=around.caches,
            watches=around.secrets,
            reader=around.reader,
            memory=self._memories.setdefault(key, Memory()),
        )

    def _forget(self, key: Key) -> None:
        self._around.recorder.forget(*key)
        self._around.secrets.forget(key)
        self._around.blueprints.forget(key)
        self._memories.pop(key, None)
