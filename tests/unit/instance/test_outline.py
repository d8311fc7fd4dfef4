"""An instance that cannot be decoded can be deleted; its database stays unless it says that it goes."""

import json
from typing import Any

import pytest

from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.api.serialise import parse_instance
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.instance.outline import instance_to_delete
from firebolt_operator.kube.decoding import readable
from firebolt_operator.kube.set_aside import SetAside, metadata_alone
from tests.support.deep import with_depth

RETAIN = {"postgresStorage": {"reclaimPolicy": "Retain"}}


def an_instance(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": FIREBOLT_INSTANCES.api_version,
        "kind": FIREBOLT_INSTANCES.kind,
        "metadata": {"name": "inst", "namespace": "ns", "uid": "uid-1", "deletionTimestamp": "2026-01-01T12:00:00Z"},
        "spec": {"id": "01JINSTANCE", "metadata": {}, "gateway": {}} | spec,
        "status": {"instanceID": "01JPUBLISHED"},
    }


async def read(body: bytes) -> bytes:
    found = await readable("reading", body)
    with pytest.raises(SpecRejectedError):
        parse_instance(found)
    return found


@pytest.mark.parametrize(
    ("storage", "path", "is_kept"),
    [
        pytest.param({}, ("gateway", "template"), False, id="read"),
        pytest.param(RETAIN, ("gateway", "template"), True, id="read-and-kept"),
        pytest.param({}, ("metadata", "template"), True, id="beside-what-is-too-deep"),
        pytest.param({"postgresStorage": {"reclaimPolicy": 7}}, ("gateway", "template"), True, id="no-policy"),
    ],
)
async def test_what_is_kept_of_the_database(storage: dict[str, Any], path: tuple[str, ...], is_kept: bool) -> None:
    instance = instance_to_delete(await read(with_depth(an_instance(metadata=storage), "spec", *path)))
    assert instance.spec.metadata.postgres_storage.is_kept is is_kept
    assert (instance.metadata.uid, instance.metadata.is_deleting) == ("uid-1", True)
    assert (instance.spec.id, instance.status.instance_id) == ("01JINSTANCE", "01JPUBLISHED")


def test_given_metadata_alone_then_the_database_is_kept() -> None:
    body = metadata_alone(json.dumps(an_instance()).encode())
    assert isinstance(body, SetAside)
    instance = instance_to_delete(body)
    assert instance.spec.metadata.postgres_storage.is_kept
    assert (instance.metadata.name, instance.spec.id, instance.status.instance_id) == ("inst", "", "")
