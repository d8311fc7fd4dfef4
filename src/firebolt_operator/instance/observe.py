"""What is there of one instance? Reads caches; asks the server only where a cache cannot be trusted to know."""

from dataclasses import dataclass
from typing import TypeVar

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import LABEL_INSTANCE, InstancePhase
from firebolt_operator.errors import RejectedError
from firebolt_operator.instance import inventory
from firebolt_operator.instance.caches import InstanceCaches
from firebolt_operator.instance.facts import (
    CredentialsSeen,
    InstanceFacts,
    Readiness,
    SecretMissing,
    SecretUnreadable,
    Volume,
)
from firebolt_operator.instance.memory import Memory
from firebolt_operator.instance.secret_watches import SecretWatches
from firebolt_operator.instance.views import LiveObject, SecretView, decode_metadata
from firebolt_operator.kube.ports import Reader
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.live import fetch_live
from firebolt_operator.runtime.objects import Key

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    caches: InstanceCaches
    watches: SecretWatches
    reader: Reader
    memory: Memory

    async def instance(self, key: Key) -> FireboltInstance | None:
        return await self._known(self.caches.instances, Ref(self.caches.instances.resource, *key))

    async def facts(self, instance: FireboltInstance) -> InstanceFacts:
        metadata, gateway = inventory.metadata_deployment_ref(instance), inventory.gateway_deployment_ref(instance)
        live = dict[Ref, LiveObject]()
        readiness = {
            ref: await self._readiness(ref, live) for ref in (metadata, gateway, *inventory.child_refs(instance))
        }
        credentials = await self._credentials(instance)
        self.memory.has_read_live = True
        return InstanceFacts(
            credentials=credentials,
            metadata=readiness[metadata],
            gateway=readiness[gateway],
            live=live,
            answers=self.memory.answers,
        )

    async def _readiness(self, ref: Ref, live: dict[Ref, LiveObject]) -> Readiness:
        try:
            found = await self._known(self.caches.child_cache(ref.resource), ref)
        except RejectedError as err:
            return Readiness(is_ready=False, problem=str(err))
        if found is None:
            return Readiness(is_ready=False)
        live[ref] = found
        return Readiness(is_ready=found.ready_replicas > 0)

    async def _credentials(self, instance: FireboltInstance) -> CredentialsSeen | None:
        if InstancePhase(instance.status.phase) is InstancePhase.FAILED:
            return None
        ref = inventory.credentials_ref(instance)
        try:
            if instance.spec.metadata.postgres is not None:
                return await self._external(instance, ref) or SecretMissing()
            return await self._internal(instance, ref) or SecretMissing(await self._volume(instance))
        except RejectedError as err:
            return SecretUnreadable(str(err))

    async def _external(self, instance: FireboltInstance, ref: Ref) -> SecretView | None:
        if not ref.name:
            self.watches.forget(_key(instance))
            return None
        self.watches.want(_key(instance), ref)
        if not self.memory.has_read_live or not self.watches.is_following(ref):
            return await fetch_live(self.caches.secrets, self.reader, ref)
        return self.watches.seen(ref)

    async def _internal(self, instance: FireboltInstance, ref: Ref) -> SecretView | None:
        """A password is minted, or an instance given up, only on the server's own word."""
        found = await self._known(self.caches.secrets, ref) or self.watches.seen(ref)
        if found is None:
            found = await fetch_live(self.caches.secrets, self.reader, ref)
        if found is None or LABEL_INSTANCE in found.metadata.labels:
            self.watches.forget(_key(instance))
        else:
            # Restored or made beforehand: without our label, its name is all that it can be followed by.
            self.watches.want(_key(instance), ref)
        return found

    async def _volume(self, instance: FireboltInstance) -> Volume:
        body = await self.reader.get_raw(inventory.database_claim_ref(instance))
        if body is None:
            return Volume.ABSENT
        return Volume.DELETING if decode_metadata(body).is_deleting else Volume.PRESENT

    async def _known(self, cache: Cache[T], ref: Ref) -> T | None:
        if not self.memory.has_read_live or cache.is_suspect((ref.namespace, ref.name)):
            return await fetch_live(cache, self.reader, ref)
        return cache.get((ref.namespace, ref.name))


def _key(instance: FireboltInstance) -> Key:
    return instance.metadata.namespace, instance.metadata.name
