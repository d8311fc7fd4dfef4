"""What starts a generation, row by row: a change of the live object, or of what is asked for."""

import dataclasses
from typing import Any

import pytest

from firebolt_operator.engine.render.drift.statefulset import find_drift
from firebolt_operator.refs import Manifest
from tests.support.drift_rows import (
    CHANGED,
    CLASS,
    EDITS,
    ENGINE,
    HARMLESS,
    HARMLESS_EDITS,
    SIDE,
    SPEC,
    touched,
)
from tests.support.engine_inputs import IMAGES, INSTANCE, engine_inputs, with_template
from tests.support.live import changed, live_statefulset

INPUTS = engine_inputs(SPEC, CLASS)
LIVE = live_statefulset(INPUTS)


def test_given_a_fresh_statefulset_then_it_matches() -> None:
    assert find_drift(LIVE, INPUTS) is None


@pytest.mark.parametrize(("path", "value", "where"), CHANGED)
def test_given_a_live_field_that_was_changed_then_it_is_drift(path: str, value: Any, where: str | None) -> None:
    drift = find_drift(touched(LIVE, path, value), INPUTS)
    assert (drift.partition(": ")[0] if drift else None) == where


def test_given_another_size_then_it_says_which() -> None:
    assert find_drift(changed(LIVE, "spec/replicas", 3), INPUTS) == "spec.replicas: live 3, wanted 2"


def test_given_labels_that_tell_no_generation_then_they_are_shown() -> None:
    live = changed(LIVE, "metadata/labels", {"firebolt.io/engine": "sales", "firebolt.io/generation": "x"})
    assert find_drift(live, INPUTS) == (
        "metadata.labels: live {'firebolt.io/engine': 'sales', 'firebolt.io/generation': 'x'},"
        " wanted the two of its generation"
    )


@pytest.mark.parametrize(("path", "value"), HARMLESS)
def test_given_a_live_field_that_does_not_count_then_it_is_no_drift(path: str, value: Any) -> None:
    assert find_drift(touched(LIVE, path, value), INPUTS) is None


@pytest.mark.parametrize(("path", "value"), EDITS)
def test_given_an_edit_that_changes_the_pods_then_it_is_drift(path: str, value: Any) -> None:
    inputs = dataclasses.replace(INPUTS, spec=engine_inputs(changed(SPEC, path, value)).spec)
    assert find_drift(LIVE, inputs) is not None


@pytest.mark.parametrize(("path", "value"), HARMLESS_EDITS)
def test_given_an_edit_that_leaves_the_pods_as_they_are_then_it_is_no_drift(path: str, value: Any) -> None:
    inputs = dataclasses.replace(INPUTS, spec=engine_inputs(changed(SPEC, path, value)).spec)
    assert find_drift(LIVE, inputs) is None


@pytest.mark.parametrize(
    ("of_class", "is_drift"),
    [
        pytest.param(CLASS, False, id="another-class-with-the-same-template"),
        pytest.param(CLASS | {"rollout": "recreate", "drainTimeout": "1h"}, False, id="settings-read-live"),
        pytest.param(CLASS | {"uiSidecar": False}, False, id="a-setting-the-engine-overrides"),
        pytest.param(None, True, id="no-class-any-more"),
        pytest.param(
            with_template({"serviceAccountName": "x", "priorityClassName": "high"}), True, id="overridden-field"
        ),
        pytest.param(CLASS | {"storage": {"hostPath": {"path": "/d"}}}, True, id="storage"),
        pytest.param(CLASS | {"customEngineConfig": {"a": 1}}, True, id="configuration"),
    ],
)
def test_given_a_change_of_the_class_then_its_template_storage_and_configuration_count(
    of_class: Manifest | None, is_drift: bool
) -> None:
    assert (find_drift(LIVE, engine_inputs(SPEC, of_class)) is not None) == is_drift


def test_given_other_facts_of_the_instance_then_only_its_hashes_count() -> None:
    moved = dataclasses.replace(INSTANCE, id="other", metadata_endpoint="other:1")
    assert find_drift(LIVE, dataclasses.replace(INPUTS, instance=moved)) is None
    hashed = dataclasses.replace(INSTANCE, hash_annotations={"firebolt.io/auth-hash": "new"})
    assert find_drift(LIVE, dataclasses.replace(INPUTS, instance=hashed)) is not None


def test_given_a_new_default_image_then_engines_without_their_own_roll() -> None:
    images = dataclasses.replace(IMAGES, engine="ghcr.io/firebolt-db/engine:release-9")
    assert find_drift(LIVE, dataclasses.replace(INPUTS, images=images)) == (
        "spec.template.spec.containers[engine].image:"
        " live ghcr.io/firebolt-db/engine:release-5.0.1, wanted ghcr.io/firebolt-db/engine:release-9"
    )


TOKEN = "automountServiceAccountToken"


@pytest.mark.parametrize("is_wanted", [True, False])
def test_given_a_statefulset_without_a_word_on_tokens_then_only_a_template_that_has_one_rolls_it(
    is_wanted: bool,
) -> None:
    live = changed(live_statefulset(engine_inputs()), f"spec/template/spec/{TOKEN}", None)
    assert find_drift(live, engine_inputs()) is None
    drift = find_drift(live, engine_inputs(with_template({TOKEN: is_wanted})))
    assert drift == f"spec.template.spec.{TOKEN}: live nothing, wanted {is_wanted}"


@pytest.mark.parametrize(
    ("asked", "rendered"),
    [
        pytest.param({}, False, id="nobody-asks"),
        pytest.param({TOKEN: None}, False, id="null-is-no-word"),
        pytest.param({TOKEN: True}, True, id="asked-for"),
    ],
)
def test_a_new_generation_has_no_token_unless_a_template_asks(asked: Manifest, rendered: bool) -> None:
    live = live_statefulset(engine_inputs(with_template(asked)))
    assert live["spec"]["template"]["spec"][TOKEN] is rendered


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{ENGINE}/env/2/value", "hunter3"),
        (f"{ENGINE}/env/2", None),
        (f"{ENGINE}/env", None),
        (f"{SIDE}/args", ["--token=hunter3"]),
        (f"{SIDE}/args", None),
    ],
)
def test_given_drift_where_people_keep_secrets_then_nothing_is_quoted(path: str, value: Any) -> None:
    drift = find_drift(changed(LIVE, path, value), INPUTS)
    assert drift is not None
    assert "hunter" not in drift


CLAIM: Manifest = {"persistentVolumeClaim": {"size": "2Gi", "storageClassName": "fast"}}


@pytest.mark.parametrize(
    ("storage", "is_drift"),
    [
        (CLAIM, False),
        ({"persistentVolumeClaim": {"size": "2048Mi", "storageClassName": "fast"}}, False),
        ({"persistentVolumeClaim": {"size": "3Gi", "storageClassName": "fast"}}, True),
        ({"persistentVolumeClaim": {"size": "2Gi", "storageClassName": ""}}, True),
        ({"persistentVolumeClaim": {"size": "2Gi"}}, True),
        (
            {"persistentVolumeClaim": {"size": "2Gi", "storageClassName": "fast", "accessModes": ["ReadWriteMany"]}},
            True,
        ),
        ({}, True),
        ({"hostPath": {"path": "/d"}}, True),
    ],
)
def test_given_claims_then_size_class_and_modes_count(storage: Manifest, is_drift: bool) -> None:
    live = live_statefulset(engine_inputs({"storage": CLAIM}))
    # We applied the claim: that must not excuse its removal from what is wanted.
    live["metadata"]["managedFields"] = [
        {"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": {"f:spec": {"f:volumeClaimTemplates": {}}}}
    ]
    assert (find_drift(live, engine_inputs({"storage": storage})) is not None) == is_drift


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        pytest.param("metadata/name", "other", ": live ['other'], wanted ['data']", id="pods-would-miss-their-data"),
        pytest.param("spec/resources/requests/storage", "1Gi", "[data].requests.storage: live 1Gi, wanted 2Gi"),
        pytest.param("spec/storageClassName", "", "[data].storageClassName: live , wanted fast"),
        pytest.param(
            "spec/accessModes", ["ReadWriteMany"], "[data].accessModes[0]: live ReadWriteMany, wanted ReadWriteOnce"
        ),
    ],
)
def test_given_a_claim_that_was_changed_then_it_says_where_and_what(path: str, value: Any, words: str) -> None:
    inputs = engine_inputs({"storage": CLAIM})
    live = changed(live_statefulset(inputs), f"spec/volumeClaimTemplates/0/{path}", value)
    assert find_drift(live, inputs) == f"spec.volumeClaimTemplates{words}"


def test_given_a_claim_without_a_class_then_forbidding_one_is_drift() -> None:
    """Absent asks for the cluster's default class, empty for none."""
    live = live_statefulset(engine_inputs({"storage": {"persistentVolumeClaim": {"size": "2Gi"}}}))
    forbidden = engine_inputs({"storage": {"persistentVolumeClaim": {"size": "2Gi", "storageClassName": ""}}})
    drift = find_drift(live, forbidden)
    assert drift == "spec.volumeClaimTemplates[data].storageClassName: live nothing, wanted "
