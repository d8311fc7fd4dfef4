"""Does the operator notice that somebody else's kind appears, and goes, without asking all the time?"""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from firebolt_operator.api.resources import CERTIFICATES, CUSTOM_RESOURCE_DEFINITIONS
from firebolt_operator.errors import ForbiddenError, TransientError
from firebolt_operator.kube.ports import Scope, WatchEvent
from firebolt_operator.refs import Ref, Resource
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.objects import manifest_of
from firebolt_operator.runtime.optional_kind import ASK_SECONDS, SETTLING, OptionalKind
from tests.support.manual_clock import ManualClock, idle
from tests.unit.runtime.builders import a_body
from tests.unit.runtime.memory_reader import MemoryReader

REF = Ref(CERTIFICATES, "ns", "a")


@dataclass
class Cluster(MemoryReader):
    """Serves certificates when it says so; the definition is told of by hand."""

    offered: tuple[Resource, ...] = ()
    is_away: bool = False
    may_watch: bool = True
    asked: int = 0
    reads: int = 0
    definitions: "asyncio.Queue[str]" = field(default_factory=asyncio.Queue)

    async def resources(self, api_version: str, /) -> tuple[Resource, ...]:
        assert api_version == "cert-manager.io/v1"
        self.asked += 1
        if self.is_away:
            raise TransientError("no answer")
        return self.offered

    async def get_raw(self, ref: Ref, /) -> bytes | None:
        self.reads += 1
        return await super().get_raw(ref)

    async def watch(self, scope: Scope, /, *, resource_version: str) -> AsyncGenerator[WatchEvent]:
        if scope.resource != CUSTOM_RESOURCE_DEFINITIONS:
            async for event in super().watch(scope, resource_version=resource_version):
                yield event
            return
        assert (scope.fields, resource_version) == ("metadata.name=certificates.cert-manager.io", "")
        if not self.may_watch:
            raise ForbiddenError("customresourcedefinitions is forbidden", status=403)
        while True:
            yield WatchEvent(await self.definitions.get(), a_body("certificates.cert-manager.io", 1))  # type: ignore[arg-type]


@dataclass
class Place:
    cluster: Cluster
    clock: ManualClock
    kind: OptionalKind[dict[str, object]]
    told: list[bool]


@asynccontextmanager
async def followed(
    cluster: Cluster, definitions: Resource | None = CUSTOM_RESOURCE_DEFINITIONS
) -> AsyncGenerator[Place]:
    clock = ManualClock()
    following = Following(reader=cluster, clock=clock, rng=random.Random(1))
    kind = OptionalKind(Cache(CERTIFICATES, manifest_of), following, definitions)
    told = list[bool]()
    kind.subscribe(lambda: told.append(kind.is_served))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(kind.run(), name="kind")
        await idle()
        yield Place(cluster, clock, kind, told)
        task.cancel()


async def test_given_a_cluster_without_the_kind_then_nobody_lists_it_and_nothing_is_there() -> None:
    async with followed(Cluster()) as place:
        await place.clock.advance(ASK_SECONDS - 1)
        assert (place.kind.is_served, place.kind.discovered.is_set(), place.cluster.asked) == (False, True, 1)
        assert await place.kind.read(REF, is_live=True) is None
        assert (place.cluster.requests, place.cluster.reads) == ([], 0)


async def test_given_the_kind_then_it_is_read_live_until_it_is_listed_and_from_the_cache_from_then_on() -> None:
    cluster = Cluster(offered=(CERTIFICATES,), holds_lists=asyncio.Event())
    cluster.put("a")
    async with followed(cluster) as place:
        assert await place.kind.read(REF) is not None
        assert place.cluster.reads == 1
        assert cluster.holds_lists is not None
        cluster.holds_lists.set()
        await idle()
        assert await place.kind.read(REF) is not None
        assert await place.kind.read(Ref(CERTIFICATES, "ns", "b")) is None
        assert place.cluster.reads == 1
        assert await place.kind.read(REF, is_live=True) is not None
        assert place.cluster.reads == 2


async def test_given_a_definition_that_appears_and_goes_then_it_is_noticed_at_once() -> None:
    async with followed(Cluster()) as place:
        place.cluster.definitions.put_nowait("ADDED")
        await place.clock.advance(0)
        assert place.told == []  # the server does not offer it yet
        place.cluster.offered = (CERTIFICATES,)
        place.cluster.definitions.put_nowait("MODIFIED")
        await place.clock.advance(0)
        assert place.told == [True]
        place.cluster.offered = ()
        place.cluster.definitions.put_nowait("DELETED")
        await place.clock.advance(0)
        assert place.told == [True, False]
        assert await place.kind.read(REF) is None


async def test_given_a_server_that_offers_it_a_little_later_then_it_is_asked_again_soon() -> None:
    async with followed(Cluster()) as place:
        place.cluster.definitions.put_nowait("ADDED")
        await place.clock.advance(0)
        place.cluster.offered = (CERTIFICATES,)
        await place.clock.advance(SETTLING[0])
        assert place.told == [True]
        asked = place.cluster.asked
        place.cluster.definitions.put_nowait("MODIFIED")  # tells nothing new
        await place.clock.advance(sum(SETTLING))
        assert place.cluster.asked == asked


async def test_given_no_right_to_watch_definitions_then_it_is_noticed_within_minutes() -> None:
    for cluster, definitions in ((Cluster(may_watch=False), CUSTOM_RESOURCE_DEFINITIONS), (Cluster(), None)):
        async with followed(cluster, definitions) as place:
            cluster.offered = (CERTIFICATES,)
            await place.clock.advance(ASK_SECONDS)
            assert place.told == [True]


async def test_given_a_server_that_does_not_answer_then_what_was_known_is_kept_and_it_is_asked_again() -> None:
    async with followed(Cluster(offered=(CERTIFICATES,))) as place:
        place.cluster.is_away = True
        await place.clock.advance(ASK_SECONDS)
        assert place.kind.is_served
        place.cluster.is_away, place.cluster.offered = False, ()
        await place.clock.advance(SETTLING[-1])
        assert place.told == [True, False]


async def test_given_a_kind_that_went_and_came_back_then_what_was_known_before_is_not_believed() -> None:
    cluster = Cluster(offered=(CERTIFICATES,))
    cluster.put("a")
    async with followed(cluster) as place:
        cluster.offered = ()
        cluster.objects.clear()
        await place.clock.advance(ASK_SECONDS)
        cluster.offered = (CERTIFICATES,)
        await place.clock.advance(ASK_SECONDS)
        assert place.told == [True, False, True]
        assert await place.kind.read(REF) is None
