"""Which engines and classes does the API server itself take, without any webhook, and what does it say to the rest?"""

import pytest

from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES
from firebolt_operator.errors import InvalidError
from firebolt_operator.refs import Manifest
from tests.api.crds.conftest import Stored

FRAGMENT: Manifest = {"spec": {"serviceAccountName": "someone"}}


def an_engine(**fields: object) -> Manifest:
    return {"instanceRef": "main", "replicas": 1} | fields


def auto_stop(**fields: object) -> Manifest:
    return an_engine(autoStop={"activeReplicas": 1} | fields)


def window(**fields: object) -> Manifest:
    return auto_stop(schedule=[{"start": "08:00", "end": "18:00"} | fields])


def storage(**backends: Manifest) -> Manifest:
    return an_engine(storage=backends)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(an_engine(), id="the-smallest-engine"),
        pytest.param(None, id="an-engine-without-a-spec"),
        pytest.param(an_engine(template=FRAGMENT), id="a-template-without-containers"),
        pytest.param(an_engine(replicas=0), id="no-replicas-stop-the-engine"),
        pytest.param({"instanceRef": "main"}, id="replicas-left-out"),
        pytest.param(an_engine(replicas=1000), id="as-many-replicas-as-there-may-be"),
        pytest.param(auto_stop(activeReplicas=1000, idleReplicas=1000), id="as-many-by-auto-stop"),
        pytest.param(storage(), id="storage-without-a-backend"),
        pytest.param(storage(emptyDir={}), id="storage-on-an-empty-dir"),
        pytest.param(storage(emptyDir={"medium": "Memory"}), id="storage-in-memory"),
        pytest.param(storage(hostPath={"path": "/x"}), id="storage-on-a-host-path"),
        pytest.param(storage(persistentVolumeClaim={}), id="storage-on-a-claim"),
        pytest.param(auto_stop(activeReplicas=3, idleReplicas=3), id="as-many-idle-as-active-replicas"),
        pytest.param(auto_stop(activeReplicas=5, idleReplicas=2), id="fewer-idle-than-active-replicas"),
        pytest.param(auto_stop(activeReplicas=3), id="idle-replicas-left-out"),
        pytest.param(window(start="23:59"), id="a-window-from-the-last-minute-of-the-day"),
        pytest.param(window(days=["Mon"]), id="a-window-on-mondays"),
        pytest.param(auto_stop(timeZone="Nowhere/Land"), id="a-time-zone-that-only-the-operator-can-judge"),
        pytest.param(an_engine(drainTimeout="10 parsecs"), id="a-duration-that-only-the-operator-can-judge"),
    ],
)
async def test_accepted_engines(stored: Stored, spec: Manifest | None) -> None:
    await stored.create(FIREBOLT_ENGINES, spec)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        pytest.param(an_engine(replicas=1001), "spec.replicas: Invalid value: 1001", id="too-many-replicas"),
        pytest.param(
            auto_stop(activeReplicas=1001), "spec.autoStop.activeReplicas: Invalid value", id="too-many-active-replicas"
        ),
        pytest.param(
            auto_stop(activeReplicas=1000, idleReplicas=1001),
            "spec.autoStop.idleReplicas: Invalid value",
            id="too-many-idle-replicas",
        ),
        pytest.param({"replicas": 1}, "spec.instanceRef: Required value", id="no-instance-field"),
        pytest.param(an_engine(replicas=-1), "spec.replicas: Invalid value: -1", id="negative-replicas"),
        pytest.param(an_engine(instanceRef=""), "spec.instanceRef: Invalid value", id="an-empty-instance-name"),
        pytest.param(an_engine(drainTimeout="1" * 65), "spec.drainTimeout: Too long", id="a-duration-without-end"),
        pytest.param(auto_stop(timeZone="A" * 65), "spec.autoStop.timeZone: Too long", id="a-time-zone-without-end"),
        pytest.param(
            storage(emptyDir={"sizeLimit": "1" * 65}), "spec.storage.emptyDir.sizeLimit: Too long", id="a-long-size"
        ),
        pytest.param(an_engine(engineClassRef=""), "spec.engineClassRef: Invalid value", id="an-empty-class-name"),
        pytest.param(an_engine(rollout="rolling"), "spec.rollout: Unsupported value", id="an-unknown-rollout"),
        pytest.param(
            storage(emptyDir={}, hostPath={"path": "/x"}), "are mutually exclusive", id="two-storage-backends"
        ),
        pytest.param(
            storage(hostPath={"path": "data"}), "spec.storage.hostPath.path: Invalid value", id="a-relative-host-path"
        ),
        pytest.param(
            storage(emptyDir={"medium": "HugePages"}),
            "spec.storage.emptyDir.medium: Unsupported value",
            id="an-unknown-medium",
        ),
        pytest.param(
            storage(persistentVolumeClaim={"size": "a lot"}),
            "spec.storage.persistentVolumeClaim.size: Invalid value",
            id="a-size-that-is-no-quantity",
        ),
        pytest.param(
            auto_stop(activeReplicas=2, idleReplicas=5),
            "activeReplicas must be >= idleReplicas",
            id="more-idle-than-active-replicas",
        ),
        pytest.param(
            an_engine(autoStop={"enabled": True}),
            "spec.autoStop.activeReplicas: Required value",
            id="auto-stop-without-active-replicas",
        ),
        pytest.param(
            auto_stop(activeReplicas=0), "spec.autoStop.activeReplicas: Invalid value", id="no-active-replicas"
        ),
        pytest.param(
            auto_stop(idleReplicas=-1), "spec.autoStop.idleReplicas: Invalid value", id="negative-idle-replicas"
        ),
        pytest.param(
            window(start="24:00"), "spec.autoStop.schedule[0].start: Invalid value", id="a-window-from-hour-24"
        ),
        pytest.param(
            window(days=["Monday"]), "spec.autoStop.schedule[0].days[0]: Unsupported value", id="a-day-spelled-out"
        ),
        pytest.param(
            an_engine(customEngineConfig="text"), "spec.customEngineConfig: Invalid value", id="configuration-as-text"
        ),
        pytest.param(
            an_engine(template={"spec": {"containers": [{"image": "x"}]}}),
            "spec.template.spec.containers[0].name: Required value",
            id="a-container-without-a-name",
        ),
        pytest.param(
            an_engine(template={"spec": {"containers": [{"name": "x"}, {"name": "x"}]}}),
            "spec.template.spec.containers[1]: Duplicate value",
            id="two-containers-of-one-name",
        ),
        pytest.param(
            an_engine(template={"spec": {"overhead": {"cpu": "much"}}}),
            "spec.template.spec.overhead.cpu: Invalid value",
            id="a-template-quantity-that-is-none",
        ),
    ],
)
async def test_rejected_engines(stored: Stored, spec: Manifest, complaint: str) -> None:
    with pytest.raises(InvalidError) as refused:
        await stored.create(FIREBOLT_ENGINES, spec)
    assert complaint in str(refused.value)


async def test_given_no_metadata_endpoint_override_when_one_is_set_then_it_is_accepted(stored: Stored) -> None:
    await stored.create(FIREBOLT_ENGINES, an_engine())
    changed = await stored.replace_spec(FIREBOLT_ENGINES, an_engine(metadataEndpointOverride="x"))
    assert changed["spec"]["metadataEndpointOverride"] == "x"


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        pytest.param(
            an_engine(instanceRef="a"),
            an_engine(instanceRef="b"),
            "instanceRef is immutable",
            id="another-instance",
        ),
        pytest.param(
            an_engine(metadataEndpointOverride="x"),
            an_engine(metadataEndpointOverride="y"),
            "spec.metadataEndpointOverride is immutable once set",
            id="another-metadata-endpoint",
        ),
        pytest.param(
            an_engine(metadataEndpointOverride="x"),
            an_engine(),
            "spec.metadataEndpointOverride is immutable once set",
            id="the-metadata-endpoint-removed",
        ),
    ],
)
async def test_rejected_changes_of_engines(stored: Stored, before: Manifest, after: Manifest, complaint: str) -> None:
    await stored.create(FIREBOLT_ENGINES, before)
    with pytest.raises(InvalidError) as refused:
        await stored.replace_spec(FIREBOLT_ENGINES, after)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"template": {}}, id="the-smallest-class"),
        pytest.param(None, id="a-class-without-a-spec"),
        pytest.param({"template": FRAGMENT}, id="a-template-without-containers"),
    ],
)
async def test_accepted_classes(stored: Stored, spec: Manifest | None) -> None:
    await stored.create(FIREBOLT_ENGINE_CLASSES, spec)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        pytest.param({}, "spec.template: Required value", id="no-template"),
        pytest.param(
            {"template": {}, "storage": {"emptyDir": {}, "hostPath": {"path": "/x"}}},
            "are mutually exclusive",
            id="two-storage-backends",
        ),
        pytest.param(
            {"template": {}, "autoStop": {"activeReplicas": 1, "idleReplicas": 2}},
            "activeReplicas must be >= idleReplicas",
            id="more-idle-than-active-replicas",
        ),
        pytest.param(
            {"template": {}, "rollout": "rolling"}, "spec.rollout: Unsupported value", id="an-unknown-rollout"
        ),
    ],
)
async def test_rejected_classes(stored: Stored, spec: Manifest, complaint: str) -> None:
    with pytest.raises(InvalidError) as refused:
        await stored.create(FIREBOLT_ENGINE_CLASSES, spec)
    assert complaint in str(refused.value)
