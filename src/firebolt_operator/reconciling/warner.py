"""How do people learn what happens to an object? An event on it, which `kubectl describe` shows."""

from dataclasses import dataclass

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.manifests.references import ref_to
from firebolt_operator.observability.events import EventSender
from firebolt_operator.refs import News, Resource, Warn
from firebolt_operator.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Warner:
    """For the objects of one kind."""

    resource: Resource
    events: EventSender
    clock: Clock

    async def warn(self, metadata: ObjectMeta, warning: Warn) -> None:
        await self.events.warn(ref_to(self.resource, metadata), metadata.uid, warning, now=self.clock.now())

    async def tell(self, metadata: ObjectMeta, news: News) -> None:
        await self.events.tell(ref_to(self.resource, metadata), metadata.uid, news, now=self.clock.now())

    def settle(self, metadata: ObjectMeta, reason: str) -> None:
        """What was warned of is over: should it happen again, it is news."""
        self.events.settle(metadata.namespace, metadata.uid, reason)
