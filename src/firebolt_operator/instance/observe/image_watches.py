"""Which instances wait for images of engines, and may go on once one has changed? Those with a canonical id do not."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from firebolt_operator.api.cluster_engine_class import ClusterFireboltEngineClass
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.instance.decide.identity import canonical_verdict
from firebolt_operator.reconciling.indexes import BY_CLASS, BY_CLUSTER_CLASS, BY_NAMESPACE, term
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.controller import Requests
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.work_queue import Priority


@dataclass(frozen=True, slots=True)
class ImageWatches:
    engines: Cache[FireboltEngine]
    instances: Cache[FireboltInstance]

    def engine_changed(self, old: FireboltEngine | None, new: FireboltEngine | None) -> Requests:
        if old is not None and new is not None and old.metadata.generation == new.metadata.generation:
            return ()
        return self._waiting(each for each in (new, old) if each is not None)

    def class_changed(self, old: FireboltEngineClass | None, new: FireboltEngineClass | None) -> Requests:
        found = new or old
        if found is None or (old and new and old.metadata.generation == new.metadata.generation):
            return ()
        return self._waiting(self.engines.by_index(BY_CLASS, term(found.metadata.namespace, found.metadata.name)))

    def cluster_class_changed(
        self, old: ClusterFireboltEngineClass | None, new: ClusterFireboltEngineClass | None
    ) -> Requests:
        found = new or old
        if found is None or (old and new and old.metadata.generation == new.metadata.generation):
            return ()
        return self._waiting(self.engines.by_index(BY_CLUSTER_CLASS, found.metadata.name))

    def preset_changed(self, old: FireboltEnginePreset | None, new: FireboltEnginePreset | None) -> Requests:
        found = new or old
        return self._waiting(self.engines.by_index(BY_NAMESPACE, found.metadata.namespace)) if found else ()

    def _waiting(self, engines: Iterable[FireboltEngine]) -> Requests:
        named = {(each.metadata.namespace, each.spec.instance_ref): None for each in engines if each.spec}
        return list(self._requests(named))

    def _requests(self, keys: Iterable[Key]) -> Iterator[tuple[Key, Priority]]:
        for key in keys:
            instance = self.instances.get(key)
            if instance is not None and instance.spec.id and canonical_verdict(instance.spec.id) is None:
                yield key, Priority.EVENT
