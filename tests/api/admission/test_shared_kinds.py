"""Presets and classes of the cluster at the door of a real API server, with the chart's own webhooks before it."""

import json
import secrets
from collections.abc import Iterator

import pytest

from firebolt_operator.api.names import FINALIZER_CLUSTER_ENGINE_CLASS, FINALIZER_ENGINE_PRESET
from firebolt_operator.refs import Manifest
from tests.api.admission.place import HOSTNAME, Place, an_object, engine

PRESET, SHARED = "FireboltEnginePreset", "ClusterFireboltEngineClass"
ACCOUNT: Manifest = {"spec": {"serviceAccountName": "mine"}}


@pytest.fixture
def shared(place: Place) -> Iterator[str]:
    name = f"shared-{secrets.token_hex(4)}"
    yield name
    place.patch(SHARED, name, {"metadata": {"finalizers": None}})
    place.delete(SHARED, name)


def preset(name: str = "firebolt", template: Manifest | None = None) -> Manifest:
    return an_object(PRESET, name, {"template": template or {}})


def engines_of(place: Place) -> list[Manifest]:
    listed = place.found("FireboltEngine", "")
    assert listed is not None
    return list(listed["items"])


def test_a_preset_has_one_name(place: Place) -> None:
    status, said = place.create(preset("other"), dry_run=True)
    assert status == 422
    assert "FireboltEnginePreset must be named 'firebolt'; the namespace singleton is enforced by name" in said


def test_owned_fields_are_refused(place: Place, shared: str) -> None:
    for manifest in (preset(template=HOSTNAME), an_object(SHARED, shared, {"template": HOSTNAME})):
        status, said = place.create(manifest, dry_run=True)
        assert (status, "spec.template.spec.hostname: Forbidden" in said) == (403, True)


def test_a_class_of_the_cluster_names_nothing_that_a_namespace_may_lack(place: Place, shared: str) -> None:
    status, said = place.create(an_object(SHARED, shared, {"template": ACCOUNT}), dry_run=True)
    assert (status, "ClusterFireboltEngineClass is SKU-only" in said) == (403, True)
    assert place.create(preset(template=ACCOUNT), dry_run=True)[0] == 201


def test_a_preset_is_kept_while_engines_live_beside_it(place: Place) -> None:
    made = place.made(preset())
    assert made["metadata"]["finalizers"] == [FINALIZER_ENGINE_PRESET]
    place.made(engine("beside"))
    status, said = place.delete(PRESET, "firebolt")
    assert (status, "as their ambient overlay; delete those engines" in said) == (403, True)
    # All of them: what other tests left in this namespace lives beside it as well.
    place.delete("FireboltEngine", "")
    place.plane.wait_until(lambda: not engines_of(place), "the engines are gone")
    status, said = place.delete(PRESET, "firebolt")
    assert status == 200, said
    # Requests that found it alive may still be under way; nobody waits for them here.
    place.patch(PRESET, "firebolt", {"metadata": {"finalizers": None}})


def test_a_class_of_the_cluster_is_kept_while_engines_use_it(place: Place, shared: str) -> None:
    status, said = place.create(engine("user", engineClassRef=shared), dry_run=True)
    assert (status, "Not found" in said) == (403, True)
    made = place.made(an_object(SHARED, shared, {"template": {}}))
    assert made["metadata"]["finalizers"] == [FINALIZER_CLUSTER_ENGINE_CLASS]
    place.made(engine("user", engineClassRef=shared))
    status, said = place.delete(SHARED, shared)
    assert (status, f'ClusterFireboltEngineClass \\"{shared}\\" is referenced by 1' in said) == (403, True), said
    place.delete("FireboltEngine", "user")
    place.plane.wait_until(lambda: place.found("FireboltEngine", "user") is None, "the engine is gone")
    status, said = place.delete(SHARED, shared)
    assert (status, json.loads(said)["kind"]) in {(200, SHARED), (200, "Status")}
