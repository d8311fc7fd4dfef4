"""Nothing passes for missing on the word of a filtered cache, and what a cache knows costs no request."""

from collections.abc import Iterable
from typing import Any, cast

import msgspec
import pytest

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.engine_class import EngineClassSpec, FireboltEngineClass
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINES,
    PODS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.engine.facts import ABSENT, NO_PODS, EngineFacts, GenerationFacts, PodCount
from firebolt_operator.engine.observe.caches import EngineCaches, engine_caches
from firebolt_operator.engine.observe.observer import Observer
from firebolt_operator.engine.views import Child
from firebolt_operator.errors import UnreadableError
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.support.deep import with_depth
from tests.support.engines import a_generation, a_service, a_status, an_engine
from tests.support.memory_server import MemoryServer

SERVICE = a_service(0)
OF_TEAM_A = {"team": "a"}


def an_observer(server: MemoryServer | None = None, *, label_selector: str = "") -> Observer:
    """Whose caches know nothing yet."""
    return Observer(engine_caches((), label_selector), cast("Any", server or MemoryServer()))


def requests_of(observer: Observer) -> list[tuple[str, ...]]:
    return cast("MemoryServer", observer.reader).requests


def remember(caches: EngineCaches, resource: Resource, found: Any) -> None:
    """As the answer to a write does."""
    body = found if isinstance(found, bytes) else msgspec.json.encode(found)
    ref = Ref(resource, "ns", "")
    for cache in caches.all():
        cache.written(ref, body)


def generation(number: int) -> GenerationFacts:
    """All of its objects, and no pod."""
    return a_generation(number, pods=NO_PODS, running_pods=())


def children_of(found: GenerationFacts) -> Iterable[tuple[Resource, Child]]:
    pairs = ((STATEFULSETS, found.statefulset), (CONFIG_MAPS, found.config_map), (SERVICES, found.headless_service))
    return [(resource, child) for resource, child in pairs if child is not None]


def observer_of(*generations: int) -> Observer:
    """Caches that know these generations and the Service, beside a server that would say that nothing is there."""
    observer = an_observer()
    for number in generations:
        for resource, child in children_of(generation(number)):
            remember(observer.caches, resource, child)
    remember(observer.caches, SERVICES, SERVICE)
    return observer


def a_pod_manifest(name: str, *, owner: str = "uid-eng-g0", labelled: int = 0) -> Manifest:
    return {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "resourceVersion": "9",
            "labels": {names.LABEL_ENGINE: "eng", names.LABEL_GENERATION: str(labelled)},
            "ownerReferences": [{"uid": owner, "controller": True}] if owner else [],
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


async def facts(observer: Observer, **status: Any) -> EngineFacts:
    return await observer.facts(an_engine(status=a_status(**status)))


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(
            a_status(current_generation=0, active_generation=0),
            EngineFacts(current=generation(0), active=generation(0), draining=ABSENT, service=SERVICE),
            id="the-first-serves",
        ),
        pytest.param(
            a_status(current_generation=0, active_generation=-1),
            EngineFacts(current=generation(0), active=ABSENT, draining=ABSENT, service=SERVICE),
            id="none-serves-yet",
        ),
        pytest.param(
            a_status(current_generation=1, active_generation=0),
            EngineFacts(current=generation(1), active=generation(0), draining=ABSENT, service=SERVICE),
            id="the-next-one-is-being-made",
        ),
        pytest.param(
            a_status(current_generation=1, active_generation=1, draining_generation=0),
            EngineFacts(current=generation(1), active=generation(1), draining=generation(0), service=SERVICE),
            id="the-first-drains",
        ),
        pytest.param(
            a_status(current_generation=2, active_generation=2, draining_generation=1),
            EngineFacts(current=generation(2), active=generation(2), draining=generation(1), service=SERVICE),
            id="a-later-one-drains",
        ),
        pytest.param(
            a_status(current_generation=1, active_generation=1, draining_generation=1),
            EngineFacts(current=generation(1), active=generation(1), draining=ABSENT, service=SERVICE),
            id="the-current-one-never-drains",
        ),
        pytest.param(
            a_status(current_generation=1, active_generation=1, draining_generation=-1),
            EngineFacts(current=generation(1), active=generation(1), draining=ABSENT, service=SERVICE),
            id="minus-one-is-none",
        ),
    ],
)
async def test_generations_by_their_part_without_a_request(status: EngineStatus, expected: EngineFacts) -> None:
    observer = observer_of(0, 1, 2)
    assert await observer.facts(an_engine(status=status)) == expected
    assert requests_of(observer) == []


@pytest.mark.parametrize(
    ("active", "draining"), [(0, None), (-1, None), (-1, -1), (0, 0)], ids=["serving", "new", "none-drains", "itself"]
)
async def test_what_caches_do_not_know_is_confirmed_once_each(active: int, draining: int | None) -> None:
    observer = an_observer()
    found = await facts(observer, current_generation=0, active_generation=active, draining_generation=draining)
    assert found == EngineFacts(current=ABSENT, active=ABSENT, draining=ABSENT, service=None)
    assert requests_of(observer) == [
        ("get", "StatefulSet", "eng-g0"),
        ("get", "ConfigMap", names.config_map_name("eng", 0)),
        ("get", "Service", names.headless_service_name("eng", 0)),
        ("get", "Service", "eng-service"),
    ]


async def test_what_only_the_server_knows_is_there() -> None:
    server = MemoryServer()
    for resource, child in [*children_of(generation(0)), (SERVICES, SERVICE)]:
        # Without our label no cache ever hears of it; making it would take over what is somebody else's.
        server.put(
            resource, msgspec.structs.replace(child, metadata=msgspec.structs.replace(child.metadata, labels={}))
        )
    found = await facts(an_observer(server))
    assert (found.current.statefulset, found.current.config_map, found.current.headless_service, found.service) == (
        server.objects[STATEFULSETS, "eng-g0"],
        server.objects[CONFIG_MAPS, names.config_map_name("eng", 0)],
        server.objects[SERVICES, names.headless_service_name("eng", 0)],
        server.objects[SERVICES, "eng-service"],
    )


async def test_a_glance_costs_no_request_and_still_sees_what_is_cached() -> None:
    observer = observer_of(0).at_a_glance
    found = await facts(observer, current_generation=1, active_generation=0)
    assert found == EngineFacts(current=ABSENT, active=generation(0), draining=ABSENT, service=SERVICE)
    assert requests_of(observer) == []


async def test_a_glance_reads_live_what_a_write_left_in_doubt() -> None:
    observer = observer_of(0).at_a_glance
    observer.caches.statefulsets.unanswered(Ref(STATEFULSETS, "ns", "eng-g0"))
    assert (await facts(observer)).current.statefulset is None
    assert requests_of(observer) == [("get", "StatefulSet", "eng-g0")]


async def test_pods_count_where_owner_and_label_agree() -> None:
    observer = observer_of(0, 1)
    for manifest in (
        a_pod_manifest("eng-g0-0"),
        a_pod_manifest("eng-g1-0", owner="uid-eng-g1", labelled=1),
        a_pod_manifest("eng-g1-1", owner="uid-eng-g1", labelled=1),
        a_pod_manifest("labelled-by-hand", owner="somebody"),
        a_pod_manifest("relabelled", labelled=1),
    ):
        remember(observer.caches, PODS, manifest)
    found = await facts(observer, current_generation=1, active_generation=1, draining_generation=0)
    assert found.current.pods == PodCount(total=2, ready=2)
    assert [pod.name for pod in found.current.running_pods] == ["eng-g1-0", "eng-g1-1"]
    assert found.draining.pods == PodCount(total=1, ready=1)
    assert [pod.name for pod in found.draining.running_pods] == ["eng-g0-0"]


async def test_without_a_statefulset_a_pod_that_nobody_owns_is_none_of_it() -> None:
    observer = an_observer()
    remember(observer.caches, PODS, a_pod_manifest("eng-g0-0", owner=""))
    assert (await facts(observer)).current == ABSENT


async def test_a_pod_that_cannot_be_read_keeps_its_generation_from_being_judged() -> None:
    observer = observer_of(0, 1)
    remember(observer.caches, PODS, with_depth(a_pod_manifest("eng-g0-0"), "status", "deep"))
    with pytest.raises(UnreadableError, match="Pod ns/eng-g0-0 is there, but cannot be decoded"):
        await facts(observer, current_generation=1, active_generation=1, draining_generation=0)
    found = await facts(observer, current_generation=1, active_generation=1)
    assert found.current == generation(1)


class TestEngine:
    async def test_a_cached_one_costs_no_request(self) -> None:
        observer = an_observer()
        remember(observer.caches, FIREBOLT_ENGINES, an_engine())
        assert await observer.engine("ns", "eng") == an_engine()
        assert requests_of(observer) == []

    async def test_one_that_the_watch_does_not_tell_of_is_not_looked_for(self) -> None:
        server = MemoryServer()
        server.objects[FIREBOLT_ENGINES, "eng"] = an_engine()
        assert await an_observer(server).engine("ns", "eng") is None
        assert server.requests == []

    async def test_one_that_a_write_left_in_doubt_is_read_live(self) -> None:
        written = an_engine(status=a_status(current_generation=1))
        server = MemoryServer()
        server.objects[FIREBOLT_ENGINES, "eng"] = written
        observer = an_observer(server)
        remember(observer.caches, FIREBOLT_ENGINES, an_engine())
        observer.caches.engines.unanswered(Ref(FIREBOLT_ENGINES, "ns", "eng"))
        assert await observer.engine("ns", "eng") == written


class TestEngineClass:
    CLASS = FireboltEngineClass(
        metadata=ObjectMeta(name="shared", namespace="ns", uid="class-uid", resource_version="4", labels=OF_TEAM_A),
        spec=EngineClassSpec(template={}),
    )

    def a_server(self) -> MemoryServer:
        server = MemoryServer()
        server.objects[FIREBOLT_ENGINE_CLASSES, "shared"] = self.CLASS
        return server

    async def test_a_cached_one_costs_no_request(self) -> None:
        observer = an_observer()
        remember(observer.caches, FIREBOLT_ENGINE_CLASSES, self.CLASS)
        assert await observer.engine_class("ns", "shared") == self.CLASS
        assert requests_of(observer) == []

    async def test_one_that_is_on_its_way_still_is_found_and_remembered(self) -> None:
        observer = an_observer(self.a_server(), label_selector="team=a")
        assert await observer.engine_class("ns", "shared") == self.CLASS
        assert await observer.engine_class("ns", "shared") == self.CLASS
        assert requests_of(observer) == [("get", "FireboltEngineClass", "shared")]

    async def test_one_outside_the_watch_selector_does_not_exist(self) -> None:
        assert await an_observer(self.a_server(), label_selector="team=b").engine_class("ns", "shared") is None

    async def test_one_that_is_nowhere_is_none(self) -> None:
        assert await an_observer().engine_class("ns", "shared") is None


async def test_a_pod_of_another_namespace_that_cannot_be_read_keeps_nobody_from_being_judged() -> None:
    observer = observer_of(0, 1)
    stray = a_pod_manifest("eng-g0-0")
    stray["metadata"]["namespace"] = "elsewhere"
    remember(observer.caches, PODS, with_depth(stray, "status", "deep"))
    assert len(observer.caches.pods.set_aside()) == 1
    assert (await facts(observer)).current.statefulset is not None
