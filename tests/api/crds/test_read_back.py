"""What does the API server make of an object: which defaults does it fill in, what does it drop, what does it keep?"""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from firebolt_operator.api.conditions import Condition
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.engine_class import EngineClassStatus
from firebolt_operator.api.instance import InstanceStatus
from firebolt_operator.api.model import StatusModel
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.api.serialise import encode_status, parse_engine, parse_engine_class, parse_instance
from firebolt_operator.errors import InvalidError
from firebolt_operator.refs import Manifest, Resource
from tests.api.crds.conftest import Stored

ENGINE: Manifest = {"instanceRef": "main", "replicas": 1}
INSTANCE: Manifest = {"metadata": {}, "gateway": {}}
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
READY = Condition(
    type="Ready", status="False", reason="Rolling", message="", last_transition_time=NOON, observed_generation=1
)

PARSED_STATUS: dict[Resource, Callable[[Manifest], StatusModel]] = {
    FIREBOLT_ENGINES: lambda manifest: parse_engine(manifest).status,
    FIREBOLT_ENGINE_CLASSES: lambda manifest: parse_engine_class(manifest).status,
    FIREBOLT_INSTANCES: lambda manifest: parse_instance(manifest).status,
}


async def test_given_the_smallest_engine_then_what_a_class_may_decide_is_not_defaulted(stored: Stored) -> None:
    assert (await stored.create(FIREBOLT_ENGINES, ENGINE))["spec"] == ENGINE | {"storage": {}}


async def test_given_the_smallest_class_then_only_storage_is_defaulted(stored: Stored) -> None:
    assert (await stored.create(FIREBOLT_ENGINE_CLASSES, {"template": {}}))["spec"] == {"template": {}, "storage": {}}


async def test_given_the_smallest_instance_then_its_defaults_are_filled_in(stored: Stored) -> None:
    assert (await stored.create(FIREBOLT_INSTANCES, INSTANCE))["spec"] == {
        "metadataNG": False,
        "metricScrapeMode": "ApiserverProxy",
        "metadata": {"engineRegistration": False, "configFormat": "XML"},
        "gateway": {"metricsPort": 9090, "holdTimeout": "120s", "drainTimeout": "15s"},
    }


async def test_given_an_empty_claim_then_its_size_and_access_mode_are_filled_in(stored: Stored) -> None:
    made = await stored.create(FIREBOLT_ENGINES, ENGINE | {"storage": {"persistentVolumeClaim": {}}})
    assert made["spec"]["storage"]["persistentVolumeClaim"] == {"size": "1Gi", "accessModes": ["ReadWriteOnce"]}


async def test_given_no_replicas_then_an_engine_has_one_node(stored: Stored) -> None:
    made = await stored.create(FIREBOLT_ENGINES, {"instanceRef": "main"})
    assert made["spec"] == {"instanceRef": "main", "replicas": 1, "storage": {}}


async def test_given_only_active_replicas_then_the_rest_of_auto_stop_is_filled_in(stored: Stored) -> None:
    made = await stored.create(FIREBOLT_ENGINES, ENGINE | {"autoStop": {"activeReplicas": 3}})
    assert made["spec"]["autoStop"] == {
        "enabled": False,
        "activeReplicas": 3,
        "idleReplicas": 0,
        "idleTimeout": "30m",
        "pollInterval": "1m",
        "timeZone": "UTC",
    }


async def test_given_a_database_of_ones_own_then_its_defaults_are_filled_in(stored: Stored) -> None:
    server = {"host": "pg", "database": "db", "credentialsSecretRef": {}}
    made = await stored.create(FIREBOLT_INSTANCES, INSTANCE | {"metadata": {"postgres": server}})
    expected = {"host": "pg", "port": 5432, "database": "db", "schema": "public", "credentialsSecretRef": {"name": ""}}
    assert made["spec"]["metadata"]["postgres"] == expected


async def test_given_authentication_then_its_defaults_are_filled_in(stored: Stored) -> None:
    local = {
        "admin": {"password": {"key": "password"}},
        "signingKeys": {"certManager": {"issuerRef": {"name": "ca"}}},
    }
    made = await stored.create(FIREBOLT_INSTANCES, INSTANCE | {"auth": {"local": local}})
    assert made["spec"]["auth"] == {
        "enabled": False,
        "local": {
            "passwordLogin": "admin_only",
            "admin": {"name": "firebolt", "password": {"name": "", "key": "password"}},
            "signingAlgorithm": "ES384",
            "signingKeys": {
                "certManager": {
                    "issuerRef": {"name": "ca", "kind": "ClusterIssuer"},
                    "algorithm": "ECDSA",
                    "size": 384,
                }
            },
        },
    }


async def test_given_unknown_keys_then_they_are_dropped(stored: Stored) -> None:
    template = {"spec": {"serviceAccountName": "someone", "surprise": 1}}
    made = await stored.create(FIREBOLT_ENGINES, ENGINE | {"surprise": 1, "template": template})
    assert made["spec"] == ENGINE | {"storage": {}, "template": {"spec": {"serviceAccountName": "someone"}}}


async def test_given_nested_engine_configuration_then_it_is_kept_as_it_is(stored: Stored) -> None:
    config = {"engine": {"a": {"b": [1, {"c": None}]}}, "flag": True}
    made = await stored.create(FIREBOLT_ENGINES, ENGINE | {"customEngineConfig": config})
    assert made["spec"]["customEngineConfig"] == config


@pytest.mark.parametrize(
    ("resource", "spec", "where"),
    [
        pytest.param(FIREBOLT_ENGINES, ENGINE, (), id="of-an-engine"),
        pytest.param(FIREBOLT_ENGINE_CLASSES, {}, (), id="of-a-class"),
        pytest.param(FIREBOLT_INSTANCES, INSTANCE, ("gateway",), id="of-a-gateway"),
        pytest.param(FIREBOLT_INSTANCES, INSTANCE, ("metadata",), id="of-a-metadata-service"),
    ],
)
async def test_labels_and_annotations_in_the_template_are_kept(
    stored: Stored, resource: Resource, spec: Manifest, where: tuple[str, ...]
) -> None:
    template = {"metadata": {"labels": {"team": "data"}, "annotations": {"example.com/note": "kept"}}}
    change: Manifest = {"template": template}
    for name in where:
        change = {name: change}
    made = (await stored.create(resource, spec | change))["spec"]
    for name in where:
        made = made[name]
    assert made["template"] == template


@pytest.mark.parametrize(
    ("resource", "spec", "status"),
    [
        pytest.param(
            FIREBOLT_ENGINES,
            ENGINE,
            EngineStatus(current_generation=0, active_generation=-1, phase="creating", conditions=[READY]),
            id="an-engine-that-begins",
        ),
        pytest.param(
            FIREBOLT_ENGINES,
            ENGINE,
            EngineStatus(
                observed_generation=2,
                current_generation=4,
                active_generation=4,
                draining_generation=3,
                phase="draining",
                switched_at=NOON,
                replicas=3,
                ready_replicas=2,
                selector="firebolt.io/engine=it,firebolt.io/generation=4",
                wake_handled_at=NOON,
                conditions=[READY],
            ),
            id="an-engine-that-drains",
        ),
        pytest.param(FIREBOLT_ENGINE_CLASSES, {"template": {}}, EngineClassStatus(), id="a-class-nobody-uses"),
        pytest.param(
            FIREBOLT_INSTANCES,
            INSTANCE,
            InstanceStatus(phase="Degraded", instance_id="01H", conditions=[READY]),
            id="an-instance-that-is-not-ready",
        ),
    ],
)
async def test_a_status_is_stored_as_it_was_encoded(
    stored: Stored, resource: Resource, spec: Manifest, status: StatusModel
) -> None:
    await stored.create(resource, spec)
    made = await stored.replace_status(resource, encode_status(status))
    assert (made["status"], PARSED_STATUS[resource](made)) == (encode_status(status), status)


@pytest.mark.parametrize(
    ("status", "complaint"),
    [
        pytest.param({"currentGeneration": 1}, "status.activeGeneration: Required value", id="no-active-generation"),
        pytest.param({"activeGeneration": 1}, "status.currentGeneration: Required value", id="no-current-generation"),
        pytest.param(
            {"currentGeneration": 1, "activeGeneration": 1, "conditions": [{"type": "Ready"}]},
            "status.conditions[0].lastTransitionTime: Required value",
            id="half-a-condition",
        ),
    ],
)
async def test_rejected_statuses_of_engines(stored: Stored, status: Manifest, complaint: str) -> None:
    await stored.create(FIREBOLT_ENGINES, ENGINE)
    with pytest.raises(InvalidError) as refused:
        await stored.replace_status(FIREBOLT_ENGINES, status)
    assert complaint in str(refused.value)
