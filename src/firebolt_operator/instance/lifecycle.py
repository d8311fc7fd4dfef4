"""The life of an instance: its passes, and a deletion that ends its gateway before what that gateway needs."""

from datetime import timedelta
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import EventReason
from firebolt_operator.errors import UnreadableError
from firebolt_operator.instance.act import deletion, gateway_end
from firebolt_operator.instance.dependencies import InstanceDependencies
from firebolt_operator.instance.inventory import instance_ref
from firebolt_operator.instance.observe.observer import LeaderMemory, Observer
from firebolt_operator.instance.outline import instance_to_delete
from firebolt_operator.instance.reconcile import InstancePass
from firebolt_operator.instance.views import decode_metadata
from firebolt_operator.look_again import After
from firebolt_operator.reconciling.finalizers import remove_finalizer
from firebolt_operator.refs import Ref, Warn
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.objects import Key

GATEWAY_WAIT: Final = After(timedelta(seconds=1))  # gateway pods are not watched: whether they have ended is asked
UNREADABLE = Warn(
    reason=EventReason.UNREADABLE,
    action="Reconcile",
    note="the operator cannot decode this instance (is something in it nested very deeply?) and leaves it and all that"
    " it has as they are; edit it, or delete it",
)


class InstanceReconciler:
    """Made anew by every leader."""

    def __init__(self, dependencies: InstanceDependencies) -> None:
        self._dependencies = dependencies
        self._memories: dict[Key, LeaderMemory] = {}

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
        return await InstancePass(self._dependencies, observer, instance).run()

    def confirmed(self, key: Key) -> None:
        """A pass came to the same as the last one."""
        instance = self._dependencies.caches.instances.get(key)
        if instance is not None:
            self._dependencies.recorder.reconciled(instance, self._dependencies.clock.now())

    async def _unreadable(self, key: Key) -> Outcome:
        """All that its owner gets to see is an event; and it must be possible to delete it."""
        ref = Ref(self._dependencies.caches.instances.resource, *key)
        body = await self._dependencies.reader.get_raw(ref)
        if body is None:
            self._forget(key)
            return Outcome("gone")
        metadata = decode_metadata(body)
        if metadata.is_deleting:
            return await self._delete(key, instance_to_delete(body))
        await self._dependencies.warner.warn(metadata, UNREADABLE)
        return Outcome("set aside: it cannot be decoded")

    async def _delete(self, key: Key, instance: FireboltInstance) -> Outcome:
        if names.FINALIZER_INSTANCE not in instance.metadata.finalizers:
            return Outcome("waiting for the finalizers of others")
        dependencies = self._dependencies
        # First of all: whoever dies after anything that follows must not have lost what was to be kept.
        await deletion.release_database(instance, dependencies.reader, dependencies.writer)
        left = await gateway_end.end_gateway(instance, dependencies.reader, dependencies.writer)
        if left and gateway_end.is_waited_for(instance, dependencies.clock.now()):
            # Their queries still need what the sweep would take away.
            return Outcome(f"waiting for {left} gateway pods", GATEWAY_WAIT)
        await deletion.delete_children(instance, self._dependencies.reader, self._dependencies.writer)
        await remove_finalizer(
            instance_ref(instance), instance.metadata, names.FINALIZER_INSTANCE, self._dependencies.writer
        )
        self._forget(key)
        return Outcome("deleted")

    def _observer(self, key: Key) -> Observer:
        dependencies = self._dependencies
        return Observer(
            caches=dependencies.caches,
            watches=dependencies.secrets,
            reader=dependencies.reader,
            memory=self._memories.setdefault(key, LeaderMemory()),
        )

    def _forget(self, key: Key) -> None:
        self._dependencies.recorder.forget(*key)
        self._dependencies.secrets.forget(key)
        self._dependencies.auth.forget(key)
        self._dependencies.tls.forget(key)
        self._dependencies.blueprints.forget(*key)
        self._memories.pop(key, None)
