"""What do an engine's pods get from the engine, its class and the operator's defaults?"""

import json
from typing import Any

import pytest

from firebolt_operator.api.resources import CONFIG_MAPS, PODS, STATEFULSETS
from firebolt_operator.refs import Manifest
from tests.api.engine.person import INSTANCE_ID, SERVING, Person
from tests.api.engine.running import ENGINE_IMAGE, Operator


def container(**fields: Any) -> Manifest:
    return {"spec": {"containers": [{"name": "engine", **fields}]}}


@pytest.mark.parametrize(
    ("own", "inherited", "expected"),
    [
        pytest.param({}, {}, (ENGINE_IMAGE, "IfNotPresent"), id="the-default"),
        pytest.param({}, {"image": "class:1"}, ("class:1", "IfNotPresent"), id="the-class"),
        pytest.param({"image": "own:1"}, {"image": "class:1"}, ("own:1", "IfNotPresent"), id="the-engine"),
        pytest.param(
            {"image": "own:1"},
            {"image": "class:1", "imagePullPolicy": "Always"},
            ("own:1", "Always"),
            id="the-policy-of-the-class-with-an-image-of-the-engine",
        ),
    ],
)
async def test_the_image_comes_from_whoever_is_nearest(
    operator: Operator, person: Person, own: Manifest, inherited: Manifest, expected: tuple[str, str]
) -> None:
    await person.make_instance()
    await person.make_class(template=container(**inherited) if inherited else {})
    await person.make_engine(engineClassRef="big", template=container(**own) if own else {})
    await operator.until_at_rest(0)
    engine = (await person.read(PODS, "eng-g0-0"))["spec"]["containers"][0]
    assert (engine["image"], engine["imagePullPolicy"]) == expected
    await operator.stays_at_rest(0)


@pytest.mark.parametrize(
    ("config", "logging"),
    [
        pytest.param(None, {"format": "json"}, id="none"),
        pytest.param({"logging": {"level": "debug"}}, {"format": "json", "level": "debug"}, id="one-more-setting"),
        pytest.param({"instance": "x", "engine": None}, {"format": "json"}, id="sections-that-are-ours"),
        pytest.param({"instance": 42, "schema_version": "9"}, {"format": "json"}, id="values-that-are-ours"),
    ],
)
async def test_custom_configuration_is_merged_around_what_is_ours(
    operator: Operator, person: Person, config: Manifest | None, logging: Manifest
) -> None:
    await person.make_instance()
    custom: Manifest = {"customEngineConfig": config} if config else {}
    await person.make_engine(replicas=0, **custom)
    await operator.until_at_rest(0)
    document = json.loads((await person.read(CONFIG_MAPS, "eng-g0-config"))["data"]["config.yaml"])
    assert document["logging"] == logging
    assert (document["schema_version"], document["instance"]["id"]) == ("1.0", INSTANCE_ID)
    assert document["instance"]["multi_engine"]["metadata_endpoint"] == SERVING["metadataEndpoint"]
    assert document["engine"]["termination_grace_period"] == "55s"
    await operator.stays_at_rest(0)


@pytest.mark.parametrize(
    ("storage", "volumes", "claims"),
    [
        pytest.param({}, {"emptyDir": {}}, [], id="nothing-said"),
        pytest.param({"persistentVolumeClaim": {}}, None, [("1Gi", ["ReadWriteOnce"])], id="a-claim-as-it-comes"),
        pytest.param(
            {"persistentVolumeClaim": {"size": "7Gi"}}, None, [("7Gi", ["ReadWriteOnce"])], id="a-claim-of-some-size"
        ),
    ],
)
async def test_storage_as_the_engine_asks_for_it(
    operator: Operator, person: Person, storage: Manifest, volumes: Manifest | None, claims: list[tuple[str, list[str]]]
) -> None:
    await person.make_instance()
    await person.make_engine(storage=storage)
    await operator.until_at_rest(0)
    spec = (await person.read(STATEFULSETS, "eng-g0"))["spec"]
    data = [volume for volume in spec["template"]["spec"]["volumes"] if volume["name"] == "data"]
    assert data == ([{"name": "data", **volumes}] if volumes is not None else [])
    found = [each["spec"] for each in spec.get("volumeClaimTemplates", [])]
    assert [(each["resources"]["requests"]["storage"], each["accessModes"]) for each in found] == claims
    await operator.stays_at_rest(0)
