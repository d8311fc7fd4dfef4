"""Four layers, engine over preset over class over operator: what each decides, and that none can be left out."""

import json
from typing import Any

import pytest

from firebolt_operator.api.names import ANNOTATION_ENGINE_CLASS_HASH, ANNOTATION_ENGINE_PRESET_HASH
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.render.config_map import engine_config_map
from firebolt_operator.engine.render.drift.statefulset import find_drift
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import engine_inputs, with_template

IN_MEMORY: Manifest = {"emptyDir": {"medium": "Memory"}}


def layers(field: str, of_class: Any, of_preset: Any, own: Any) -> EngineInputs:
    """The same field of the pod in each; None leaves it out."""

    def layer(value: Any) -> Manifest:
        return with_template({} if value is None else {field: value})

    return engine_inputs(layer(own), layer(of_class), of_preset=layer(of_preset))


def pod(inputs: EngineInputs) -> Manifest:
    return dict(engine_statefulset(inputs, 1)["spec"]["template"]["spec"])


def engine_of(inputs: EngineInputs) -> Manifest:
    return next(each for each in pod(inputs)["containers"] if each["name"] == "engine")


@pytest.mark.parametrize("field", ["serviceAccountName", "priorityClassName", "runtimeClassName", "schedulerName"])
@pytest.mark.parametrize(
    ("of_class", "of_preset", "own", "expected"),
    [
        pytest.param("class", "preset", "own", "own", id="the-engine-wins"),
        pytest.param("class", "preset", None, "preset", id="then-the-preset"),
        pytest.param("class", None, None, "class", id="then-the-class"),
        pytest.param(None, None, None, None, id="nobody-says"),
        pytest.param("class", "preset", "", "preset", id="empty-says-nothing"),
    ],
)
def test_scalars(
    field: str, of_class: str | None, of_preset: str | None, own: str | None, expected: str | None
) -> None:
    assert pod(layers(field, of_class, of_preset, own)).get(field) == expected


@pytest.mark.parametrize(
    ("of_class", "of_preset", "own", "expected"),
    [
        pytest.param(True, False, None, False, id="the-highest-that-says-anything"),
        pytest.param(False, None, True, True, id="the-engine"),
        pytest.param(None, True, None, True, id="the-preset"),
        pytest.param(None, None, None, False, id="nobody-no-token"),
    ],
)
def test_tokens(of_class: bool | None, of_preset: bool | None, own: bool | None, *, expected: bool) -> None:
    assert (
        pod(layers("automountServiceAccountToken", of_class, of_preset, own))["automountServiceAccountToken"]
        is expected
    )


def test_node_selectors_labels_and_annotations_key_by_key() -> None:
    def layer(**values: str) -> Manifest:
        return {"template": {"metadata": {"labels": values, "annotations": values}, "spec": {"nodeSelector": values}}}

    inputs = engine_inputs(
        layer(c="own"), layer(a="class", b="class", c="class"), of_preset=layer(b="preset", c="preset")
    )
    template = engine_statefulset(inputs, 1)["spec"]["template"]
    merged = {"a": "class", "b": "preset", "c": "own"}
    assert template["spec"]["nodeSelector"] == merged
    assert merged.items() <= template["metadata"]["labels"].items()
    assert template["metadata"]["annotations"] == merged


@pytest.mark.parametrize("field", ["tolerations", "topologySpreadConstraints", "imagePullSecrets", "hostAliases"])
def test_lists_are_strung_together_class_preset_engine(field: str) -> None:
    inputs = layers(field, [{"name": "class"}], [{"name": "preset"}], [{"name": "own"}])
    assert [each["name"] for each in pod(inputs)[field]] == ["class", "preset", "own"]


def test_volumes_init_containers_and_sidecars_are_strung_together() -> None:
    def layer(name: str) -> Manifest:
        container = {"name": f"{name}-side", "image": "x"}
        return with_template(
            {
                "containers": [container],
                "initContainers": [{"name": f"{name}-init", "image": "x"}],
                "volumes": [{"name": name, "emptyDir": {}}],
            }
        )

    found = pod(engine_inputs(layer("own"), layer("class"), of_preset=layer("preset")))
    assert [each["name"] for each in found["containers"]] == ["engine", "class-side", "preset-side", "own-side"]
    assert [each["name"] for each in found["initContainers"]] == ["class-init", "preset-init", "own-init"]
    assert [each["name"] for each in found["volumes"]][-3:] == ["class", "preset", "own"]


@pytest.mark.parametrize("field", ["affinity", "securityContext"])
def test_some_objects_are_taken_whole(field: str) -> None:
    found = pod(layers(field, {"a": {"x": 1}}, {"b": {"x": 2}}, None))[field]
    assert "b" in found
    assert "a" not in found


def test_of_the_engine_container_images_pull_policies_and_resources_each_on_their_own() -> None:
    inputs = engine_inputs(
        with_template(engine={"imagePullPolicy": "Never"}),
        with_template(engine={"image": "class:1", "resources": {"limits": {"cpu": "1"}}}),
        of_preset=with_template(engine={"resources": {"requests": {"cpu": "2"}}, "workingDir": "/preset"}),
    )
    found = engine_of(inputs)
    assert (found["image"], found["imagePullPolicy"], found["workingDir"]) == ("class:1", "Never", "/preset")
    assert found["resources"] == {"requests": {"cpu": "2"}}


def test_environment_and_mounts_operator_class_preset_engine() -> None:
    def layer(name: str) -> Manifest:
        return with_template(
            engine={
                "env": [{"name": name, "value": "x"}],
                "envFrom": [{"prefix": name}],
                "volumeMounts": [{"name": name, "mountPath": f"/{name}"}],
            }
        )

    found = engine_of(engine_inputs(layer("own"), layer("class"), of_preset=layer("preset")))
    assert [each["name"] for each in found["env"]][-3:] == ["class", "preset", "own"]
    assert found["env"][0]["name"] == "POD_INDEX"
    assert [each["prefix"] for each in found["envFrom"]] == ["class", "preset", "own"]
    assert [each["name"] for each in found["volumeMounts"]][-3:] == ["class", "preset", "own"]


@pytest.mark.parametrize(
    ("of_class", "of_preset", "own", "expected"),
    [
        pytest.param(
            {"hostPath": {"path": "/c"}}, {"emptyDir": {"medium": "Memory"}}, {}, {"medium": "Memory"}, id="preset"
        ),
        pytest.param(
            {"emptyDir": {"medium": "Memory"}}, {"hostPath": {"path": "/p"}}, {"emptyDir": {}}, {}, id="engine"
        ),
        pytest.param({"emptyDir": {"medium": "Memory"}}, {}, {}, {"medium": "Memory"}, id="class"),
    ],
)
def test_storage_is_taken_whole(of_class: Manifest, of_preset: Manifest, own: Manifest, expected: Manifest) -> None:
    inputs = engine_inputs({"storage": own}, {"storage": of_class}, of_preset={"storage": of_preset})
    data = next(each for each in pod(inputs)["volumes"] if each["name"] == "data")
    assert data["emptyDir"] == expected


def test_custom_configuration_is_merged_deeply_and_what_the_operator_owns_is_left_out_of_every_layer() -> None:
    def layer(name: str, **more: str) -> Manifest:
        section = {"name": name, **more}
        owned = {"engine": {"id": name, "nodes": [], "extra": name}, "instance": {"id": name}, "schema_version": name}
        return {"customEngineConfig": {"storage": section, **owned}}

    inputs = engine_inputs(layer("own", own="1"), layer("class", low="1", mid="1"), of_preset=layer("preset", mid="2"))
    config = json.loads(engine_config_map(inputs, 1)["data"]["config.yaml"])
    assert config["storage"] == {"name": "own", "low": "1", "mid": "2", "own": "1"}
    assert (config["engine"]["id"], config["engine"]["extra"]) == ("sales", "own")
    assert (config["instance"]["id"], config["schema_version"]) == ("01JINSTANCE", "1.0")


def test_the_hash_covers_the_whole_spec_of_the_preset_and_the_class_keeps_its_own() -> None:
    def annotations(of_preset: Manifest | None) -> Manifest:
        return dict(engine_statefulset(engine_inputs(None, {}, of_preset=of_preset), 1)["metadata"]["annotations"])

    plain, stored = annotations({}), annotations({"storage": {"emptyDir": {"medium": "Memory"}}})
    assert ANNOTATION_ENGINE_PRESET_HASH not in annotations(None)
    assert len(plain[ANNOTATION_ENGINE_PRESET_HASH]) == 16
    assert plain[ANNOTATION_ENGINE_PRESET_HASH] != stored[ANNOTATION_ENGINE_PRESET_HASH]
    assert plain[ANNOTATION_ENGINE_CLASS_HASH] == annotations(None)[ANNOTATION_ENGINE_CLASS_HASH]


@pytest.mark.parametrize(
    ("of_preset", "is_drift"),
    [
        pytest.param(None, True, id="gone"),
        pytest.param(with_template({"nodeSelector": {"a": "2"}}), True, id="what-the-pod-shows"),
        pytest.param(with_template({"nodeSelector": {"a": "1", "b": "own"}}), False, id="what-the-engine-says-anyway"),
        pytest.param(
            with_template({"nodeSelector": {"a": "1"}}) | {"customEngineConfig": {"engine": {"id": "x"}}},
            False,
            id="what-is-left-out",
        ),
        pytest.param(
            with_template({"nodeSelector": {"a": "1"}}) | {"customEngineConfig": {"x": 1}}, True, id="the-configuration"
        ),
    ],
)
def test_only_an_edit_that_changes_what_is_rendered_is_drift(of_preset: Manifest | None, *, is_drift: bool) -> None:
    own = with_template({"nodeSelector": {"b": "own"}})
    live = engine_statefulset(engine_inputs(own, of_preset=with_template({"nodeSelector": {"a": "1"}})), 1)
    assert (find_drift(live, engine_inputs(own, of_preset=of_preset)) is not None) is is_drift
