"""One instance, one pass: observe everything, decide purely, write in a crash-safe order, one status write."""

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.instance import deletion
from firebolt_operator.instance.instance_pass import InstancePass
from firebolt_operator.instance.observe import Observer
from firebolt_operator.instance.surroundings import InstanceSurroundings
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.objects import Key


class InstanceReconciler:
    """Made anew by every leader: it remembers which instances it has looked at with its own eyes."""

    def __init__(self, surroundings: InstanceSurroundings) -> None:
        self._around = surroundings
        self._read_live: set[Key] = set()

    async def reconcile(self, key: Key) -> Outcome:
        observer = self._observer(key)
        instance = await observer.instance(key)
        if instance is None:
            self._forget(key)
            return Outcome("gone")
        if instance.metadata.is_deleting:
            # Before the finalizer: the API server takes no new finalizer on an object that is being deleted.
            return await self._delete(key, instance)
        work = InstancePass(self._around, observer, instance)
        try:
            return await work.run()
        finally:
            if work.has_observed:
                self._read_live.add(key)

    async def _delete(self, key: Key, instance: FireboltInstance) -> Outcome:
        if names.FINALIZER_INSTANCE not in instance.metadata.finalizers:
            return Outcome("waiting for the finalizers of others")
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
            is_first=key not in self._read_live,
        )

    def _forget(self, key: Key) -> None:
        self._around.recorder.forget(*key)
        self._around.secrets.forget(key)
        self._around.blueprints.forget(key)
        self._read_live.discard(key)
