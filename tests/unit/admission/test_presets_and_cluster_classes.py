"""Which presets and classes of the cluster does the webhook let through, and which may go?"""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from firebolt_operator.api.names import FINALIZER_CLUSTER_ENGINE_CLASS, FINALIZER_ENGINE_PRESET
from firebolt_operator.errors import ForbiddenError, TransientError
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.refs import Manifest
from tests.unit.admission.rig import WATCHED, Rig, a_review, an_engine, message, patch_of

PRESETS, SHARED, CLASSES = "fireboltenginepresets", "clusterfireboltengineclasses", "fireboltengineclasses"
SINGULAR = {PRESETS: "fireboltenginepreset", SHARED: "clusterfireboltengineclass"}
FINALIZERS = {PRESETS: FINALIZER_ENGINE_PRESET, SHARED: FINALIZER_CLUSTER_ENGINE_CLASS}
BOTH = pytest.mark.parametrize("plural", [PRESETS, SHARED])
HOSTNAME: Manifest = {"spec": {"hostname": "x"}}
LARGE: Manifest = {"spec": {"containers": [{"name": "engine", "resources": {"limits": {"cpu": "64"}}}]}}


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with Rig(bounds=ResourceBounds(cpu="32")) as rig:
        yield rig


def an_object(plural: str, template: Manifest | None = None, **metadata: Any) -> Manifest:
    name = "firebolt" if plural == PRESETS else "it"
    return {"metadata": {"name": name, **metadata}, "spec": {"template": template or {}}}


async def verdict(
    rig: Rig, plural: str, operation: str, new: Manifest | None, old: Manifest | None = None, purpose: str = "validate"
) -> Manifest:
    namespace, name = ("", "it") if plural == SHARED else ("ns", "firebolt")
    review = a_review(plural, operation, new, old, namespace=namespace, name=name)
    return await rig.ask(purpose, SINGULAR[plural], review)


@BOTH
async def test_owned_fields_are_refused_unless_they_were_there_before(rig: Rig, plural: str) -> None:
    told = "spec.template.spec.hostname: Forbidden: hostname is owned by the operator"
    bad = an_object(plural, HOSTNAME)
    assert message(await verdict(rig, plural, "CREATE", bad)) == told
    assert message(await verdict(rig, plural, "UPDATE", bad, an_object(plural))) == told
    assert (await verdict(rig, plural, "UPDATE", an_object(plural, HOSTNAME, labels={"a": "b"}), bad))["allowed"]
    assert (await verdict(rig, plural, "CREATE", an_object(plural)))["allowed"]


async def test_what_a_namespace_may_lack_is_refused_to_a_class_of_the_cluster_alone(rig: Rig) -> None:
    account: Manifest = {"spec": {"serviceAccountName": "mine"}}
    assert (await verdict(rig, PRESETS, "CREATE", an_object(PRESETS, account)))["allowed"]
    assert "ClusterFireboltEngineClass is SKU-only" in message(
        await verdict(rig, SHARED, "CREATE", an_object(SHARED, account))
    )


@BOTH
async def test_a_new_one_gets_its_finalizer_if_somebody_looks_after_it(rig: Rig, plural: str) -> None:
    ours = await verdict(rig, plural, "CREATE", an_object(plural, labels=WATCHED), purpose="mutate")
    assert patch_of(ours) == [{"op": "add", "path": "/metadata/finalizers", "value": [FINALIZERS[plural]]}]
    assert patch_of(await verdict(rig, plural, "CREATE", an_object(plural), purpose="mutate")) == []


async def test_a_preset_is_kept_while_its_namespace_has_engines(rig: Rig) -> None:
    guarded = an_object(PRESETS, labels=WATCHED, finalizers=[FINALIZER_ENGINE_PRESET])
    rig.reader.put("fireboltengines", "far", namespace="elsewhere", spec={"instanceRef": "i"})
    assert (await verdict(rig, PRESETS, "DELETE", None, guarded))["allowed"]
    rig.reader.put("fireboltengines", "one", spec={"instanceRef": "i"})
    assert message(await verdict(rig, PRESETS, "DELETE", None, guarded)) == (
        'metadata.name: Forbidden: 1 FireboltEngine(s) in namespace "ns" consume FireboltEnginePreset "firebolt" as'
        " their ambient overlay; delete those engines before deleting the Preset object"
    )


async def test_a_class_of_the_cluster_is_kept_while_engines_of_any_namespace_use_it(rig: Rig) -> None:
    guarded = an_object(SHARED, labels=WATCHED, finalizers=[FINALIZER_CLUSTER_ENGINE_CLASS])
    rig.reader.put("fireboltengines", "covered", spec={"instanceRef": "i", "engineClassRef": "it"})
    rig.reader.put(CLASSES, "it", spec={"template": {}})
    assert (await verdict(rig, SHARED, "DELETE", None, guarded))["allowed"], "its namespace has a class of that name"
    rig.reader.put("fireboltengines", "far", namespace="elsewhere", spec={"instanceRef": "i", "engineClassRef": "it"})
    assert message(await verdict(rig, SHARED, "DELETE", None, guarded)) == (
        'metadata.name: Forbidden: ClusterFireboltEngineClass "it" is referenced by 1 FireboltEngine(s); clear'
        " spec.engineClassRef on those engines before deleting the class"
    )


@BOTH
async def test_when_engines_cannot_be_listed_then_nothing_is_deleted(rig: Rig, plural: str) -> None:
    rig.reader.failure = TransientError("the server is away")
    guarded = an_object(plural, labels=WATCHED, finalizers=[FINALIZERS[plural]])
    assert "the server is away" in message(await verdict(rig, plural, "DELETE", None, guarded))


@BOTH
async def test_one_that_nobody_guards_yet_is_not_deleted(rig: Rig, plural: str) -> None:
    assert "try again" in message(await verdict(rig, plural, "DELETE", None, an_object(plural, labels=WATCHED)))


async def engine_verdict(rig: Rig, **spec: Any) -> Manifest:
    review = a_review("fireboltengines", "CREATE", an_engine(**spec))
    return await rig.ask("validate", "fireboltengine", review)


async def test_an_engine_may_name_a_class_of_the_cluster(rig: Rig) -> None:
    rig.reader.put(SHARED, "shared", namespace="", spec={"template": {}})
    assert (await engine_verdict(rig, engineClassRef="shared"))["allowed"]
    assert message(await engine_verdict(rig, engineClassRef="nowhere")) == 'spec.engineClassRef: Not found: "nowhere"'


async def test_a_class_of_the_namespace_wins_as_a_whole(rig: Rig) -> None:
    rig.reader.put(SHARED, "shared", namespace="", spec={"template": LARGE})
    told = message(await engine_verdict(rig, engineClassRef="shared"))
    assert '(inherited from ClusterFireboltEngineClass "shared"; set spec.template on this engine to override)' in told
    rig.reader.put(CLASSES, "shared", spec={"template": {}})
    assert (await engine_verdict(rig, engineClassRef="shared"))["allowed"]


async def test_a_preset_is_held_against_an_engine_and_one_that_cannot_be_read_is_not(rig: Rig) -> None:
    rig.reader.put(PRESETS, "firebolt", spec={"template": LARGE})
    told = message(await engine_verdict(rig))
    assert '(inherited from FireboltEnginePreset "firebolt"; set spec.template on this engine to override)' in told
    rig.reader.put(PRESETS, "firebolt", spec="nonsense")
    assert (await engine_verdict(rig))["allowed"]


async def test_without_rights_beyond_its_namespaces_there_are_no_classes_of_the_cluster(rig: Rig) -> None:
    class_of_nobody = ForbiddenError("no", status=403)
    rig.reader.failures[SHARED] = class_of_nobody
    assert message(await engine_verdict(rig, engineClassRef="it")) == 'spec.engineClassRef: Not found: "it"'
