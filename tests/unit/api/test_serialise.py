"""Do objects survive the way onto the wire and back, and what is said of those that do not?"""

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given

from firebolt_operator.api.engine import UNINITIALISED, EngineStatus, FireboltEngine
from firebolt_operator.api.engine_class import EngineClassStatus, FireboltEngineClass
from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.api.serialise import (
    encode_status,
    format_time,
    parse_engine,
    parse_engine_class,
    parse_instance,
)
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.refs import Manifest
from tests.support.random_models import models

ENGINE: Manifest = {"metadata": {"name": "it"}, "spec": {"instanceRef": "main", "replicas": 1}}
INSTANCE: Manifest = {"metadata": {"name": "it"}, "spec": {"metadata": {}, "gateway": {}}}


@given(models(FireboltEngine))
def test_any_engine_comes_back_from_text_and_from_a_manifest(engine: FireboltEngine) -> None:
    text = msgspec.json.encode(engine)
    assert (parse_engine(text), parse_engine(msgspec.json.decode(text))) == (engine, engine)


@given(models(FireboltEngineClass))
def test_any_class_comes_back_from_text_and_from_a_manifest(engine_class: FireboltEngineClass) -> None:
    text = msgspec.json.encode(engine_class)
    assert (parse_engine_class(text), parse_engine_class(msgspec.json.decode(text))) == (engine_class, engine_class)


@given(models(FireboltInstance))
def test_any_instance_comes_back_from_text_and_from_a_manifest(instance: FireboltInstance) -> None:
    text = msgspec.json.encode(instance)
    assert (parse_instance(text), parse_instance(msgspec.json.decode(text))) == (instance, instance)


@given(models(EngineStatus))
def test_any_engine_status_comes_back(status: EngineStatus) -> None:
    assert parse_engine(ENGINE | {"status": encode_status(status)}).status == status


@given(models(EngineClassStatus))
def test_any_class_status_comes_back(status: EngineClassStatus) -> None:
    assert parse_engine_class({"metadata": {}, "status": encode_status(status)}).status == status


@given(models(InstanceStatus))
def test_any_instance_status_comes_back(status: InstanceStatus) -> None:
    assert parse_instance(INSTANCE | {"status": encode_status(status)}).status == status


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(
            UNINITIALISED,
            {"currentGeneration": 0, "activeGeneration": -1, "replicas": 0, "readyReplicas": 0},
            id="an-engine-that-begins",
        ),
        pytest.param(EngineClassStatus(), {"boundEngines": 0}, id="a-class-nobody-uses"),
        pytest.param(InstanceStatus(), {"metadataReady": False, "gatewayReady": False}, id="an-instance-that-begins"),
    ],
)
def test_zero_and_false_are_written_where_columns_show_them(
    status: EngineStatus | EngineClassStatus | InstanceStatus, expected: Manifest
) -> None:
    assert encode_status(status) == expected


def test_given_an_object_without_a_status_then_nothing_has_happened_yet() -> None:
    assert parse_engine({"metadata": {"name": "it"}}) == FireboltEngine(
        metadata=parse_engine(ENGINE).metadata, spec=None, status=UNINITIALISED
    )


def test_times_are_written_in_utc_and_whole_seconds() -> None:
    somewhere = timezone(timedelta(hours=2))
    assert format_time(datetime(2026, 3, 1, 12, 30, 15, 999_999, tzinfo=somewhere)) == "2026-03-01T10:30:15Z"


def test_early_years_keep_four_digits() -> None:
    assert format_time(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00Z"


def test_a_time_beyond_the_first_or_last_day_is_written_as_the_nearest() -> None:
    east, west = timezone(timedelta(hours=23, minutes=59)), timezone(-timedelta(hours=23, minutes=59))
    assert format_time(datetime(1, 1, 1, tzinfo=east)) == "0001-01-01T00:00:00Z"
    assert format_time(datetime(9999, 12, 31, 23, tzinfo=west)) == "9999-12-31T23:59:59Z"


def test_a_time_without_a_zone_is_a_bug() -> None:
    with pytest.raises(RuntimeError, match="without a zone"):
        format_time(datetime(2026, 3, 1))  # noqa: DTZ001 - the point of the test


@pytest.mark.parametrize(
    ("manifest", "complaint"),
    [
        pytest.param(
            {"metadata": {}, "spec": {"instanceRef": "main", "replicas": "1"}},
            "spec.replicas: Expected `int`, got `str`",
            id="a-wrong-type",
        ),
        pytest.param(
            {"metadata": {}, "spec": {"replicas": 1}},
            "spec: Object missing required field `instanceRef`",
            id="a-missing-field",
        ),
        pytest.param(
            {"metadata": {}, "status": {"currentGeneration": 0, "activeGeneration": 0, "conditions": [1]}},
            "status.conditions[0]: Expected `object`, got `int`",
            id="inside-a-list",
        ),
        pytest.param({}, "object: Object missing required field `metadata`", id="no-object-at-all"),
    ],
)
def test_what_cannot_be_read_names_its_field(manifest: Manifest, complaint: str) -> None:
    with pytest.raises(SpecRejectedError) as from_manifest:
        parse_engine(manifest)
    with pytest.raises(SpecRejectedError) as from_text:
        parse_engine(msgspec.json.encode(manifest))
    assert (str(from_manifest.value), str(from_text.value)) == (complaint, complaint)


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(SpecRejectedError, match="object: JSON is malformed"):
        parse_engine(b"not JSON")
