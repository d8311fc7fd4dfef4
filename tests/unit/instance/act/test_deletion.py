"""What goes when an instance is deleted, and what never does."""

from typing import Any, cast

import pytest

from firebolt_operator.api import names
from firebolt_operator.api.model import ObjectMeta, OwnerReference
from firebolt_operator.api.resources import PERSISTENT_VOLUME_CLAIMS, SECRETS, STATEFULSETS
from firebolt_operator.errors import FencedError, TransientError
from firebolt_operator.instance.act.deletion import delete_children
from firebolt_operator.instance.decide.ownership import SWEPT
from firebolt_operator.manifests.live_objects import LiveObject
from firebolt_operator.refs import Resource
from tests.support.instances import ID, NOON, an_instance
from tests.support.memory_server import MemoryServer

CLAIM = "data-inst-metadata-pg-0"
CREDENTIALS = "inst-metadata-postgres-creds"


def put(
    server: MemoryServer,
    resource: Resource,
    name: str,
    *,
    owner: str = "uid-1",
    **changes: Any,
) -> None:
    """An object with the instance's labels."""
    metadata = ObjectMeta(
        name=name,
        namespace="ns",
        uid=f"uid-{name}",
        labels={names.LABEL_INSTANCE: "inst", names.LABEL_COMPONENT: names.COMPONENT_POSTGRES},
        owner_references=[OwnerReference(api_version="v1", kind="x", name="x", uid=owner)] if owner else [],
        **changes,
    )
    server.objects[resource, name] = LiveObject(metadata=metadata, content={}, owned={})


def name_of(resource: Resource) -> str:
    return CLAIM if resource == PERSISTENT_VOLUME_CLAIMS else f"our-{resource.plural}"


@pytest.fixture
def server() -> MemoryServer:
    """With one object of every kind; the database's claim has no owner, as the real ones."""
    made = MemoryServer()
    for resource in reversed(SWEPT):
        put(made, resource, name_of(resource), owner="" if resource == PERSISTENT_VOLUME_CLAIMS else "uid-1")
    return made


async def delete_all(server: MemoryServer, **spec: Any) -> None:
    await delete_children(an_instance(**spec), cast("Any", server), cast("Any", server))


async def test_all_that_the_instance_owns_goes_by_its_uid_and_its_workloads_first(server: MemoryServer) -> None:
    put(server, SECRETS, "second")
    await delete_all(server)
    expected = [(each.kind, name_of(each), f"uid-{name_of(each)}", "") for each in SWEPT]
    expected.insert(SWEPT.index(SECRETS) + 1, ("Secret", "second", "uid-second", ""))
    assert server.deleted == expected


@pytest.mark.parametrize("resource", SWEPT, ids=lambda kind: kind.plural)
async def test_what_only_carries_our_label_stays(resource: Resource) -> None:
    server = MemoryServer()
    put(server, resource, "somebody-elses", owner="another")
    put(server, resource, "nobodys", owner="")
    await delete_all(server)
    assert server.deleted == []


@pytest.mark.parametrize("policy", ["Delete", "Retain"])
async def test_a_database_that_is_kept_stays_with_its_credentials_and_nothing_else(policy: str) -> None:
    server = MemoryServer()
    put(server, PERSISTENT_VOLUME_CLAIMS, CLAIM, owner="")
    put(server, SECRETS, CREDENTIALS, owner="", annotations={names.ANNOTATION_INSTANCE_ID: ID})
    put(server, SECRETS, "another")
    await delete_all(server, metadata={"postgresStorage": {"reclaimPolicy": policy}})
    kept = {CLAIM, CREDENTIALS} if policy == "Retain" else set[str]()
    assert {name for _, name, *_ in server.deleted} == {CLAIM, CREDENTIALS, "another"} - kept


async def test_what_is_on_its_way_out_is_not_deleted_again() -> None:
    server = MemoryServer()
    put(server, STATEFULSETS, "going", deletion_timestamp=NOON)
    await delete_all(server)
    assert server.deleted == []


async def test_kinds_that_fail_hold_up_no_other_and_are_told(server: MemoryServer) -> None:
    first = TransientError("not now")
    server.failures = {STATEFULSETS: first, SECRETS: TransientError("nor then")}
    with pytest.raises(TransientError) as caught:
        await delete_all(server)
    assert str(caught.value) == "cleanup failed with 2 errors, first: not now"
    assert caught.value.__cause__ is first
    assert [kind for kind, *_ in server.deleted] == [each.kind for each in SWEPT if each not in server.failures]


async def test_without_the_lease_nothing_more_is_tried(server: MemoryServer) -> None:
    server.failures[STATEFULSETS] = FencedError("lost")
    with pytest.raises(FencedError):
        await delete_all(server)
    assert server.deleted == []
