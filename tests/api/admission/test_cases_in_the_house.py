"""Every case where no webhook is: the object is stored, and its conditions say what the door would have said."""

import asyncio
import http.client
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import pytest
import pytest_asyncio

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.testing.namespaces import empty_namespace, make_namespace
from firebolt_operator.api.conditions import Condition as Found
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.names import FINALIZER_ENGINE_CLASS, EventReason
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.cache import Cache
from tests.api.engine import running as engines
from tests.api.instance import running as instances
from tests.support.admission.all_cases import each
from tests.support.admission.case import BOUNDS, Case, Condition, Dropped, an_object, in_order
from tests.support.admission.deletions import Deletion, each_deletion
from tests.support.admission.world import (
    discard,
    make_engines,
    make_world,
    path_of,
    preset_beside,
    remove_engines,
    tell,
)
from tests.support.crds import install_crds

pytestmark = pytest.mark.asyncio(loop_scope="module")
ENGINES: Final = "FireboltEngine"
CLASSES: Final = "FireboltEngineClass"
INSTANCES: Final = "FireboltInstance"
PRESETS: Final = "FireboltEnginePreset"
CLUSTER_CLASSES: Final = "ClusterFireboltEngineClass"
AT_REST = {"Stopped", "InstanceNotReady"}  # an instance may well come later
REFUSING = {"TemplateRejected", "SpecInvalid", "EnsureFailed", "AuthSpecInvalid", "TLSSpecInvalid"}
FEATURES = ("AuthReady", "EngineTLSReady", "GatewayTLSReady", "MetadataReady")


@dataclass
class House:
    plane: ControlPlane
    engines: engines.Operator
    instances: instances.Operator
    written: int = 0

    def namespace(self, kind: str) -> str:
        """The instance of the engines is looked after by nobody: other instances live elsewhere."""
        return self.instances.namespace if kind == INSTANCES else self.engines.namespace

    def write(self, case: Case) -> tuple[int, str, str]:
        """How it ended, what was answered, and the name of what was written."""
        self.written += 1
        namespace = self.namespace(case.kind)
        name = case.name(f"{namespace}-{self.written}" if case.kind == CLUSTER_CLASSES else f"case{self.written}")
        before = case.manifest(name, namespace, _cheap(case.spec if case.before is None else case.before))
        code, answer = self._send("POST", path_of(case.kind, namespace), before)
        if case.before is None or code != http.client.CREATED:
            return code, answer, name
        if case.status:
            tell(self.plane.http, case.kind, namespace, name, case.status)
        return *self._replace(path_of(case.kind, namespace, name), case.spec), name

    def _replace(self, path: str, spec: Manifest) -> tuple[int, str]:
        """Again and again: a controller may write meanwhile."""
        while True:
            stored = self.plane.http.get(path)
            code, answer = self._send("PUT", path, {**stored, "spec": _cheap(spec)})
            if code != http.client.CONFLICT:
                return code, answer

    def _send(self, method: str, path: str, manifest: Manifest) -> tuple[int, str]:
        return self.plane.http.patient().text(method, path, json.dumps(manifest))

    async def until(self, kind: str, name: str, wanted: Callable[[list[Found]], bool]) -> list[Found]:
        """The conditions, as soon as they speak of the object as it is and are as wanted."""
        operator = self.instances if kind == INSTANCES else self.engines
        found: list[Found] | None = None
        try:
            async with asyncio.timeout(engines.SECONDS):
                while True:
                    operator.changed.clear()
                    found = self._conditions(kind, name)
                    if found is not None and wanted(found):
                        return found
                    await operator.changed.wait()
        except TimeoutError as err:
            raise AssertionError(f"it says {found}") from err

    def _conditions(self, kind: str, name: str) -> list[Found] | None:
        found = self._cache(kind).get((self.namespace(kind), name))
        if found is None or found.status.observed_generation != found.metadata.generation:
            return None
        return list(found.status.conditions)

    def _cache(self, kind: str) -> Cache[Any]:
        """A class of the cluster has no status: the engine that names it speaks for it."""
        caches = self.engines.caches
        if kind == INSTANCES:
            return self.instances.caches.instances
        if kind == PRESETS:
            return caches.presets
        return caches.engine_classes if kind == CLASSES else caches.engines

    def is_told(self, reason: str, name: str) -> bool:
        path = f"/apis/events.k8s.io/v1/namespaces/{self.namespace(ENGINES)}/events"
        items = self.plane.http.get(path)["items"]
        return any(item["reason"] == reason and item["regarding"]["name"] == name for item in items)

    def name_in_engine(self, name: str) -> None:
        """By an engine of the same name."""
        engine = an_object(ENGINES, name, self.engines.namespace, {"instanceRef": "inst", "engineClassRef": name})
        engine["spec"]["replicas"] = 0
        self.plane.http.create(path_of(ENGINES, self.engines.namespace), engine)

    def discard(self, kind: str, name: str) -> None:
        """At once: the controllers have enough to do."""
        http = self.plane.http.patient()
        if kind == CLUSTER_CLASSES:
            discard(http, ENGINES, self.engines.namespace, name)
        discard(http, kind, self.namespace(kind), name)


def _cheap(spec: Manifest) -> Manifest:
    """Where a case does not speak of the metadata service, the database is one that nobody can log in to."""
    missing = {"host": "db", "database": "meta", "credentialsSecretRef": {"name": "missing"}}
    return {**spec, "metadata": {"postgres": missing}} if spec.get("metadata") == {} else spec


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(control_plane: ControlPlane) -> AsyncGenerator[House]:
    install_crds(control_plane.kubeconfig)
    http, kubeconfig = control_plane.http, control_plane.kubeconfig
    namespaces = [make_namespace(http) for _ in range(2)]
    make_world(http, *namespaces)
    flags = (f"--engine-max-cpu={BOUNDS['cpu']}", f"--engine-max-memory={BOUNDS['memory']}")
    try:
        async with (
            engines.running_operator(kubeconfig, namespaces[0], *flags) as own,
            instances.running_operator(kubeconfig, namespaces[1]) as others,
        ):
            yield House(control_plane, own, others)
    finally:
        for namespace in namespaces:
            empty_namespace(http, namespace)


@asynccontextmanager
async def stored(house: House, case: Case) -> AsyncGenerator[str]:
    code, answer, name = await asyncio.to_thread(house.write, case)
    try:
        if case.schema:
            assert (code, case.schema in answer) == (422, True), answer
        else:
            assert code in {200, 201}, answer
        yield name
    finally:
        await asyncio.to_thread(house.discard, case.kind, name)


@each(ENGINES, CLASSES, PRESETS, CLUSTER_CLASSES)
async def test_engines_and_what_they_share_say(house: House, case: Case) -> None:
    with preset_beside(house.plane.http, house.namespace(ENGINES), case):
        await assert_told(house, case)


async def assert_told(house: House, case: Case) -> None:
    async with stored(house, case) as name:
        if case.kind == CLUSTER_CLASSES and not case.schema:
            await asyncio.to_thread(house.name_in_engine, name)
        if await is_refused(house, case, name):
            return
        await house.until(case.kind, name, is_in_use)
        if isinstance(case.without, Dropped):
            assert await asyncio.to_thread(house.is_told, EventReason.SECRET_ALIAS_VOLUME_DROPPED, name)


@each(INSTANCES)
async def test_instances_say(house: House, case: Case) -> None:
    async with stored(house, case) as name:
        if await is_refused(house, case, name):
            return
        conditions = await house.until(case.kind, name, lambda found: {each.type for each in found} >= set(FEATURES))
        refused = [each for each in conditions if each.reason in REFUSING]
        assert refused == []


async def is_refused(house: House, case: Case, name: str) -> bool:
    """By the schema, or by a condition, which is then as the case has it."""
    if isinstance(case.without, Condition) and not case.schema:
        await assert_said(house, case, name, case.without)
    return bool(case.schema) or isinstance(case.without, Condition)


async def assert_said(house: House, case: Case, name: str, wanted: Condition) -> None:
    def says(conditions: list[Found]) -> bool:
        found = find_condition(conditions, wanted.type)
        return found is not None and (found.status, found.reason) == (wanted.status, wanted.reason)

    found = find_condition(await house.until(case.kind, name, says), wanted.type)
    assert found is not None
    assert in_order(found.message, case.told), found.message
    if wanted.names is None:
        assert all(words in found.message for words in case.says), found.message


def is_in_use(conditions: list[Found]) -> bool:
    ready = find_condition(conditions, "Ready")
    return ready is not None and (ready.is_true or ready.reason in AT_REST)


@each_deletion
async def test_the_house_keeps_a_class_in_use(control_plane: ControlPlane, deletion: Deletion) -> None:
    """Engines are nobody's here: only what the class says is looked at, by an operator that has just started."""
    http, namespace = control_plane.http, make_namespace(control_plane.http)
    guarded = {"finalizers": [FINALIZER_ENGINE_CLASS]}
    manifest = deletion.engine_class(namespace)
    path = path_of(CLASSES, namespace, "used")
    http.create(path_of(CLASSES, namespace), {**manifest, "metadata": {**manifest["metadata"], **guarded}})
    await asyncio.to_thread(make_engines, http, deletion.engines(namespace, "default"))
    try:
        http.text("DELETE", path)
        flags = ("--watch-label-selector=!tried",)
        async with engines.running_operator(control_plane.kubeconfig, namespace, *flags) as operator:
            if not deletion.bound:
                await operator.sees(lambda: [run for run in operator.classes.ended("used") if run.outcome] or None)
                assert http.text("GET", path)[0] == 404
                return
            blocked = await operator.until_class("used", lambda found: bool(found.status.conditions))
            said = engines.condition(blocked)
            assert (said.status, said.reason, deletion.says in said.message) == ("False", "DeletionBlocked", True)
            assert namespace in said.message
    finally:
        remove_engines(http, namespace, "default")
        empty_namespace(http, namespace)
