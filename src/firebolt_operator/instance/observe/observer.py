"""What is there of one instance? Reads caches; asks the server only where a cache cannot be trusted to know."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import LABEL_INSTANCE, InstancePhase
from firebolt_operator.errors import RejectedError, UnreadableError
from firebolt_operator.instance import inventory
from firebolt_operator.instance.database_login import authority_in_use
from firebolt_operator.instance.decide.ownership import is_database_claim
from firebolt_operator.instance.decide.retention import kept_id
from firebolt_operator.instance.facts import (
    NOT_READY,
    Answer,
    CredentialsSeen,
    InstanceFacts,
    Readiness,
    SecretMissing,
    SecretUnreadable,
    Volume,
)
from firebolt_operator.instance.observe.caches import InstanceCaches
from firebolt_operator.instance.observe.login_digest import login_content, slow_digest
from firebolt_operator.instance.views import SecretView, decode_metadata
from firebolt_operator.kube.ports import Reader
from firebolt_operator.manifests.live_objects import LiveObject, stranger
from firebolt_operator.reconciling.reads import known_or_live
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.live import fetch_live
from firebolt_operator.runtime.objects import Key

T = TypeVar("T")


@dataclass(slots=True)
class LeaderMemory:
    """What one leader knows of one instance besides what the caches hold. Nothing that may be lost matters."""

    has_read_live: bool = False  # until then, what a former leader did last may be in no cache yet
    login: tuple[bytes, str] = (b"", "")  # what was read from Secrets of others last, and its digest
    answers: dict[Ref, Answer] = field(default_factory=dict[Ref, Answer])


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    caches: InstanceCaches
    watches: SecretWatches[SecretView]
    reader: Reader
    memory: LeaderMemory

    async def instance(self, key: Key) -> FireboltInstance | None:
        return await self._known(self.caches.instances, Ref(self.caches.instances.resource, *key))

    async def facts(self, instance: FireboltInstance) -> InstanceFacts:
        refs = inventory.applied_refs(instance)
        children = await self._look_for(refs)
        credentials = await self._credentials(instance)
        authority = await self._authority(instance)
        volume = Volume.ABSENT
        if isinstance(credentials, SecretView) and not children.has_own(inventory.database_ref(instance), instance):
            try:
                volume = await self._volume(instance)
            except (RejectedError, UnreadableError) as err:
                credentials = SecretUnreadable(str(err))
        is_first_look, self.memory.has_read_live = not self.memory.has_read_live, True
        return InstanceFacts(
            credentials=credentials,
            metadata_service=children.readiness(inventory.metadata_deployment_ref(instance), instance),
            gateway=children.readiness(inventory.gateway_deployment_ref(instance), instance),
            live=children.live,
            unreadable=children.unreadable,
            authority=authority,
            login_digest=await self._login_digest(instance, credentials, authority),
            volume=volume,
            confirmed=frozenset(refs) if is_first_look else frozenset(),
            answers=self.memory.answers,
        )

    async def confirmed(self, instance: FireboltInstance, facts: InstanceFacts, refs: Sequence[Ref]) -> InstanceFacts:
        """The same facts with the server's own word on objects that no cache knows."""
        looked = await self._look_for(refs, is_live=True)
        children = _Children({**facts.live, **looked.live}, {**facts.unreadable, **looked.unreadable})
        return replace(
            facts,
            metadata_service=children.readiness(inventory.metadata_deployment_ref(instance), instance),
            gateway=children.readiness(inventory.gateway_deployment_ref(instance), instance),
            live=children.live,
            unreadable=children.unreadable,
            confirmed=facts.confirmed.union(refs),
        )

    async def kept_id(self, instance: FireboltInstance) -> str:
        """Of the database that an earlier instance of this name left behind; empty if there is none."""
        if instance.spec.metadata.postgres is not None:
            return ""
        found = await fetch_live(self.caches.secrets, self.reader, inventory.credentials_ref(instance))
        return kept_id(found.metadata, await self._volume(instance)) if found else ""

    async def _look_for(self, refs: Sequence[Ref], *, is_live: bool = False) -> "_Children":
        children, caches = _Children({}, {}), {cache.resource: cache for cache in self.caches.applied}
        for ref in refs:
            try:
                found = await self._known(caches[ref.resource], ref, is_live=is_live)
            except (RejectedError, UnreadableError) as err:
                children.unreadable[ref] = str(err)
            else:
                if found is not None:
                    children.live[ref] = found
        return children

    async def _credentials(self, instance: FireboltInstance) -> CredentialsSeen | None:
        if InstancePhase(instance.status.phase) is InstancePhase.FAILED:
            return None
        ref = inventory.credentials_ref(instance)
        try:
            if instance.spec.metadata.postgres is not None:
                return await self._external(instance, ref) or SecretMissing()
            return await self._internal(instance, ref) or SecretMissing(await self._volume(instance))
        except (RejectedError, UnreadableError) as err:
            return SecretUnreadable(str(err))

    async def _external(self, instance: FireboltInstance, ref: Ref) -> SecretView | None:
        if not ref.name:
            self.watches.forget(_key(instance))
            return None
        self.watches.want(_key(instance), *filter(None, (ref, inventory.authority_ref(instance))))
        return await self._referenced(ref)

    async def _referenced(self, ref: Ref) -> SecretView | None:
        if not self.memory.has_read_live or not self.watches.is_following(ref):
            return await fetch_live(self.caches.secrets, self.reader, ref)
        return self.watches.seen(ref)

    async def _authority(self, instance: FireboltInstance) -> CredentialsSeen | None:
        ref = inventory.authority_ref(instance)
        if ref is None or InstancePhase(instance.status.phase) is InstancePhase.FAILED:
            return None
        try:
            return await self._referenced(ref) or SecretMissing()
        except (RejectedError, UnreadableError) as err:
            return SecretUnreadable(str(err))

    async def _login_digest(
        self, instance: FireboltInstance, credentials: CredentialsSeen | None, authority: CredentialsSeen | None
    ) -> str:
        """Worked out only when something has changed."""
        if instance.spec.metadata.postgres is None or not isinstance(credentials, SecretView):
            return ""
        selected = authority_in_use(instance)
        verified_with = authority if isinstance(authority, SecretView) else None
        content = login_content(credentials, verified_with, selected.key if selected else "")
        if self.memory.login[0] != content:
            self.memory.login = content, await slow_digest(content, instance.metadata.uid)
        return self.memory.login[1]

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
        """An external server has none."""
        external = instance.spec.metadata.postgres is not None
        body = None if external else await self.reader.get_raw(inventory.database_claim_ref(instance))
        if body is None:
            return Volume.ABSENT
        found = decode_metadata(body)
        if not is_database_claim(instance, found):
            return Volume.FOREIGN
        return Volume.DELETING if found.is_deleting else Volume.PRESENT

    async def _known(self, cache: Cache[T], ref: Ref, *, is_live: bool = False) -> T | None:
        if is_live or not self.memory.has_read_live:
            return await fetch_live(cache, self.reader, ref)
        return await known_or_live(cache, self.reader, ref)


@dataclass(frozen=True, slots=True)
class _Children:
    live: dict[Ref, LiveObject]
    unreadable: dict[Ref, str]

    def has_own(self, ref: Ref, instance: FireboltInstance) -> bool:
        found = self.live.get(ref)
        return found is not None and found.is_owned_by(instance.metadata.uid)

    def readiness(self, deployment: Ref, instance: FireboltInstance) -> Readiness:
        """Somebody else's Deployment of that name serves nobody of ours."""
        if deployment in self.unreadable:
            return Readiness(is_ready=False, problem=self.unreadable[deployment])
        found = self.live.get(deployment)
        if found is None or stranger(instance.metadata.uid, found) is not None:
            return NOT_READY
        return Readiness(is_ready=found.ready_replicas > 0)


def _key(instance: FireboltInstance) -> Key:
    return instance.metadata.namespace, instance.metadata.name
