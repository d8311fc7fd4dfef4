"""Whose images are looked at before an id is rewritten, and what becomes of the rewrite."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.resources import (
    CLUSTER_FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
)
from firebolt_operator.engine.observe.caches import EngineCaches, engine_caches
from firebolt_operator.errors import ConflictError, ForbiddenError, InvalidError, OperatorError
from firebolt_operator.instance.identity import IdentityStep, Rewritten
from firebolt_operator.instance.observe.image_watches import ImageWatches
from firebolt_operator.kube.ports import Page, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.manifests.releases import FLOOR
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Manifest, Ref, Resource
from firebolt_operator.runtime.work_queue import Priority
from tests.support.identity import identity_step
from tests.support.instances import ID, an_instance

NEW, OLD = f"image:{FLOOR}", "image:release-4.9.0"


def body(
    resource: Resource, name: str, spec: Manifest, *, labels: Mapping[str, str] | None = None, version: int = 7
) -> bytes:
    metadata = {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "resourceVersion": str(version),
        "generation": version,
        "labels": labels or {},
    }
    return msgspec.json.encode({"kind": resource.kind, "metadata": metadata, "spec": spec})


def template(image: str) -> Manifest:
    return {"spec": {"containers": [{"name": "engine", "image": image}]}}


@dataclass
class Server:
    """What the caches know, what the server knows besides, and what it is asked to write."""

    caches: EngineCaches = field(default_factory=lambda: engine_caches((), "team=mine"))
    engines: list[bytes] = field(default_factory=list[bytes])
    patches: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    refusal: OperatorError | None = None
    lists: int = 0

    def has(self, name: str, *, labels: Mapping[str, str] | None = None, **spec: Any) -> None:
        engine = body(FIREBOLT_ENGINES, name, {"instanceRef": "inst", **spec}, labels=labels or {"team": "mine"})
        self.engines.append(engine)
        self.caches.engines.written(Ref(FIREBOLT_ENGINES, "ns", name), engine)

    def has_class(self, name: str, image: str) -> None:
        content = body(FIREBOLT_ENGINE_CLASSES, name, {"template": template(image)}, labels={"team": "mine"})
        self.caches.engine_classes.written(Ref(FIREBOLT_ENGINE_CLASSES, "ns", name), content)

    def has_preset(self, image: str) -> None:
        content = body(FIREBOLT_ENGINE_PRESETS, "firebolt", {"template": template(image)}, labels={"team": "mine"})
        self.caches.presets.written(Ref(FIREBOLT_ENGINE_PRESETS, "ns", "firebolt"), content)

    def has_cluster_class(self, name: str, image: str) -> None:
        metadata = {"name": name, "uid": name, "resourceVersion": "7", "labels": {"team": "mine"}}
        content = msgspec.json.encode({"metadata": metadata, "spec": {"template": template(image)}})
        self.caches.cluster_classes.written(Ref(CLUSTER_FIREBOLT_ENGINE_CLASSES, "", name), content)

    async def pages(self, scope: Scope, /, *, limit: int = 500) -> AsyncGenerator[Page]:
        del scope, limit
        self.lists += 1
        for engine in self.engines:
            yield Page([engine], "1")

    async def merge_patch(self, ref: Ref, patch: Mapping[str, Any], /, *, subresource: str = "") -> Manifest:
        del ref, subresource
        if self.refusal:
            raise self.refusal
        self.patches.append(patch)
        return {}

    def step(self, metadata_image: str = NEW, engine_image: str = NEW) -> IdentityStep:
        anything: Any = self
        return identity_step(anything, anything, self.caches, metadata_image=metadata_image, engine_image=engine_image)

    async def said(self, **images: str) -> str:
        verdict = await self.step(**images).run(an_instance())
        assert isinstance(verdict, Verdict)
        return f"{verdict.reason}: {verdict.message}"


async def test_with_new_images_alone_the_id_is_rewritten_under_the_version_that_was_read() -> None:
    server = Server()
    server.has("one")
    server.has("stopped", replicas=0, template=template(NEW))
    assert await server.step().run(an_instance(meta={"resourceVersion": "5"})) == Rewritten(ID.lower())
    assert server.patches == [
        {"spec": {"id": ID.lower()}, "metadata": {"resourceVersion": "5", "uid": "uid-1"}},
    ]


async def test_a_canonical_id_costs_no_look_at_any_engine() -> None:
    server = Server()
    server.has("one", template=template(OLD))
    verdict = await server.step().run(an_instance(id=ID.lower()))
    assert isinstance(verdict, Verdict)
    assert (verdict.status, server.lists, server.patches) == ("True", 0, [])


async def test_a_failed_instance_is_left_alone() -> None:
    server = Server()
    assert await server.step().run(an_instance(status={"phase": "Failed"})) is None
    assert server.patches == []


async def test_an_old_metadata_image_is_named_first() -> None:
    server = Server()
    server.has("one", template=template(OLD))
    assert 'metadata image "image:release-4.9.0"' in await server.said(metadata_image=OLD)
    assert server.lists == 0


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"template": template(OLD)}, id="its-own-template"),
        pytest.param({"template": template(OLD), "replicas": 0}, id="a-stopped-engine-too"),
        pytest.param({"engineClassRef": "old"}, id="its-class"),
        pytest.param({"engineClassRef": "new", "template": template(OLD)}, id="its-template-over-its-class"),
    ],
)
async def test_an_engine_with_an_old_image_is_named_and_costs_no_requests(spec: Manifest) -> None:
    server = Server()
    server.has_class("old", OLD)
    server.has_class("new", NEW)
    server.has("fine", engineClassRef="new")
    server.has("two", **spec)
    assert 'engine "two" image "image:release-4.9.0"' in await server.said()
    assert server.lists == 0


async def test_an_old_default_image_is_the_engines() -> None:
    server = Server()
    server.has("one")
    assert 'engine "one" image "image:release-4.9.0"' in await server.said(engine_image=OLD)


async def test_the_template_of_an_engine_wins_over_an_old_class() -> None:
    server = Server()
    server.has_class("old", OLD)
    server.has("one", engineClassRef="old", template=template(NEW))
    assert await server.step().run(an_instance()) == Rewritten(ID.lower())


@pytest.mark.parametrize(
    ("own", "preset", "named", "is_old"),
    [
        pytest.param(None, OLD, NEW, True, id="a-preset-over-a-class"),
        pytest.param(NEW, OLD, OLD, False, id="an-engine-over-both"),
        pytest.param(None, NEW, OLD, False, id="a-new-preset-over-an-old-class"),
        pytest.param(None, None, OLD, True, id="a-class-of-the-cluster"),
    ],
)
async def test_images_come_from_four_layers(own: str | None, preset: str | None, named: str, *, is_old: bool) -> None:
    server = Server()
    server.has_cluster_class("shared", named)
    if preset:
        server.has_preset(preset)
    server.has("one", engineClassRef="shared", **({"template": template(own)} if own else {}))
    found = await server.step().run(an_instance())
    assert isinstance(found, Verdict) is is_old


async def test_a_class_of_the_namespace_hides_that_of_the_cluster() -> None:
    server = Server()
    server.has_cluster_class("shared", OLD)
    server.has_class("shared", NEW)
    server.has("one", engineClassRef="shared")
    assert await server.step().run(an_instance()) == Rewritten(ID.lower())


async def test_engines_of_other_instances_do_not_matter() -> None:
    server = Server()
    server.has("one", instanceRef="other", template=template(OLD))
    assert await server.step().run(an_instance()) == Rewritten(ID.lower())


async def test_an_engine_that_the_selector_hides_reads_the_id_all_the_same() -> None:
    server = Server()
    server.has("hidden", labels={"team": "other"}, template=template(OLD))
    assert server.caches.engines.get(("ns", "hidden")) is None
    assert 'engine "hidden" image' in await server.said()
    assert server.patches == []


async def test_a_missing_class_is_told() -> None:
    server = Server()
    server.has("one", engineClassRef="gone")
    assert (await server.said()).startswith(
        'ImageResolveFailed: cannot resolve engine "one" image: FireboltEngineClass ns/gone not found,'
        " ClusterFireboltEngineClass gone not found"
    )


async def test_an_engine_that_nobody_can_read_is_told() -> None:
    server = Server()
    broken = SetAside(body(FIREBOLT_ENGINES, "deep", {}, labels={"team": "mine"}))
    server.engines.append(broken)
    told = 'ImageResolveFailed: cannot resolve engine "deep" image: the engine cannot be decoded'
    assert await server.said() == told
    server.caches.engines.written(Ref(FIREBOLT_ENGINES, "ns", "deep"), broken)
    assert await server.said() == told
    assert server.lists == 1


async def test_an_engine_that_is_no_engine_is_told() -> None:
    server = Server()
    server.engines.append(body(FIREBOLT_ENGINES, "odd", {"instanceRef": ["no", "name"]}))
    assert (await server.said()).startswith('ImageResolveFailed: cannot resolve engine "odd" image: ')


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(InvalidError("no", status=422), id="an-older-definition"),
        pytest.param(ForbiddenError("no", status=403), id="a-policy"),
    ],
)
async def test_a_refused_rewrite_is_told_and_stops_nothing(error: OperatorError) -> None:
    assert await Server(refusal=error).said() == (
        f'UpdateRejected: spec.id could not be canonicalized to "{ID.lower()}": no'
    )


async def test_any_other_failure_ends_the_pass() -> None:
    with pytest.raises(ConflictError):
        await Server(refusal=ConflictError("somebody was quicker")).step().run(an_instance())


def test_a_change_of_an_image_brings_the_instances_that_wait_for_one() -> None:
    server = Server()
    server.has_class("old", OLD)
    server.has("one", engineClassRef="old")
    waiting = ImageWatches(server.caches.engines, server.caches.instances)
    [engine] = server.caches.engines.values()
    [old] = server.caches.engine_classes.values()
    edited = msgspec.structs.replace(
        old, metadata=msgspec.structs.replace(old.metadata, generation=old.metadata.generation + 1)
    )
    learn(server, ID.lower(), version=1)
    assert list(waiting.engine_changed(None, engine)) == []
    learn(server, ID, version=2)
    assert [key for key, _ in waiting.engine_changed(None, engine)] == [("ns", "inst")]
    assert [key for key, _ in waiting.engine_changed(engine, None)] == [("ns", "inst")]
    assert list(waiting.engine_changed(engine, engine)) == []
    assert [key for key, _ in waiting.class_changed(old, edited)] == [("ns", "inst")]
    assert list(waiting.class_changed(old, old)) == []


def test_a_preset_and_a_class_of_the_cluster_bring_the_instances_of_their_engines() -> None:
    server = Server()
    server.has_preset(OLD)
    server.has_cluster_class("old", OLD)
    server.has("one", engineClassRef="old")
    server.has("two", instanceRef="another")
    learn(server, ID, version=2)
    waiting = ImageWatches(server.caches.engines, server.caches.instances)
    [preset], [old] = server.caches.presets.values(), server.caches.cluster_classes.values()
    edited = msgspec.structs.replace(old, metadata=msgspec.structs.replace(old.metadata, generation=9))
    wanted = [(("ns", "inst"), Priority.EVENT)]
    for before, after in ((None, preset), (preset, None), (preset, preset)):
        assert list(waiting.preset_changed(before, after)) == wanted
    for earlier, later in ((None, old), (old, None), (old, edited)):
        assert list(waiting.cluster_class_changed(earlier, later)) == wanted
    assert list(waiting.cluster_class_changed(old, old)) == []
    assert list(waiting.preset_changed(None, None)) == list(waiting.cluster_class_changed(None, None)) == []


def test_a_class_that_goes_brings_the_instances_of_its_engines() -> None:
    server = Server()
    server.has_class("old", OLD)
    server.has("one", engineClassRef="old")
    learn(server, ID, version=2)
    [old] = server.caches.engine_classes.values()
    waiting = ImageWatches(server.caches.engines, server.caches.instances)
    assert list(waiting.class_changed(old, None)) == [(("ns", "inst"), Priority.EVENT)]


def learn(server: Server, instance_id: str, *, version: int) -> None:
    cache = server.caches.instances
    spec = {"id": instance_id, "metadata": {}, "gateway": {}}
    content = body(cache.resource, "inst", spec, labels={"team": "mine"}, version=version)
    cache.written(Ref(cache.resource, "ns", "inst"), content)


@pytest.mark.parametrize(
    ("metadata", "engine", "is_lower"),
    [
        pytest.param(NEW, NEW, True, id="both-new"),
        pytest.param(OLD, NEW, False, id="old-metadata"),
        pytest.param(NEW, OLD, False, id="old-engines"),
        pytest.param("image:release-5.0.1-0.20260713060957.513515666721", NEW, False, id="the-default-of-today"),
    ],
)
def test_an_id_is_minted_as_the_images_want_it(metadata: str, engine: str, *, is_lower: bool) -> None:
    step = Server().step(metadata_image=metadata, engine_image=engine)
    assert step.mints_lower_case(an_instance()) is is_lower


def test_the_image_in_the_template_counts_before_the_default() -> None:
    pinned = {"spec": {"containers": [{"name": "metadata", "image": OLD}]}}
    assert not Server().step().mints_lower_case(an_instance(metadata={"template": pinned}))
