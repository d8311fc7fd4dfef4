"""Who hears what about a write?"""

import pytest

from firebolt_operator.errors import ConflictError, InvalidError, NotFoundError
from firebolt_operator.refs import Manifest, Ref
from tests.unit.kube.wire import (
    CONFIG_MAPS,
    SETTINGS,
    WRITES,
    SpokenObserver,
    Step,
    WireServer,
    Write,
    a_client,
    a_config_map,
    answer,
    status,
)

STORED = a_config_map(data={"stored": "yes"})


@pytest.mark.parametrize("write", [each for each in WRITES if each.id != "delete"])
async def test_an_answered_write_hands_the_stored_object_on(write: Write) -> None:
    first, second = SpokenObserver(), SpokenObserver()
    async with WireServer(answer(200, STORED)) as server, a_client(server.url, observer=first) as client:
        client.add_observer(second)
        assert await write(client) == STORED
    assert first.heard == second.heard == [("written", SETTINGS, STORED)]


async def test_given_a_generated_name_then_observers_hear_the_real_one() -> None:
    observer = SpokenObserver()
    stored = a_config_map("settings-x7k2p")
    async with WireServer(answer(201, stored)) as server, a_client(server.url, observer=observer) as client:
        manifest = a_config_map()
        manifest["metadata"] = {"generateName": "settings-", "namespace": "shop"}
        await client.create(manifest)
    assert observer.heard == [("written", Ref(CONFIG_MAPS, "shop", "settings-x7k2p"), stored)]


async def test_given_a_subresource_of_another_kind_then_the_object_itself_is_unknown() -> None:
    observer = SpokenObserver()
    scale: Manifest = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "settings"}}
    async with WireServer(answer(200, scale)) as server, a_client(server.url, observer=observer) as client:
        await client.merge_patch(SETTINGS, {"spec": {"replicas": 2}}, subresource="scale")
    assert observer.heard == [("unanswered", SETTINGS)]


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        pytest.param(422, "Invalid", InvalidError, id="invalid"),
        pytest.param(404, "NotFound", NotFoundError, id="not-found"),
        pytest.param(409, "Conflict", ConflictError, id="conflict"),
        pytest.param(409, "AlreadyExists", ConflictError, id="two-creators-met-in-an-apply"),
    ],
)
async def test_a_refused_write_changes_nothing_and_is_not_told(code: int, reason: str, kind: type[Exception]) -> None:
    observer = SpokenObserver()
    refused = answer(code, status(code, reason, "no"))
    async with WireServer(refused) as server, a_client(server.url, observer=observer) as client:
        with pytest.raises(kind):
            await client.apply(a_config_map())
    assert observer.heard == []


async def test_nobody_is_told_of_unobserved_writes() -> None:
    observer = SpokenObserver()
    async with WireServer(answer(201, STORED)) as server, a_client(server.url, observer=observer) as client:
        await client.unobserved.create(a_config_map())
    assert observer.heard == []


@pytest.mark.parametrize(
    ("answered", "heard"),
    [
        pytest.param(answer(200, {"kind": "Status", "status": "Success"}), ("deleted", SETTINGS, "u"), id="gone"),
        pytest.param(answer(404, status(404, "NotFound", "x")), ("deleted", SETTINGS, "u"), id="gone-before"),
        pytest.param(answer(200, STORED), ("deleted", SETTINGS, "u"), id="the-answer-shows-what-was-deleted"),
    ],
)
async def test_a_deleted_object_is_told_as_deleted(answered: Step, heard: tuple[object, ...]) -> None:
    observer = SpokenObserver()
    async with WireServer(answered) as server, a_client(server.url, observer=observer) as client:
        await client.delete(SETTINGS, uid="u")
    assert observer.heard == [heard]


async def test_given_finalizers_then_a_deleted_object_is_told_as_still_there() -> None:
    observer = SpokenObserver()
    left = a_config_map()
    left["metadata"] |= {"uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]}
    async with WireServer(answer(200, left)) as server, a_client(server.url, observer=observer) as client:
        await client.delete(SETTINGS, uid="u")
    assert observer.heard == [("written", SETTINGS, left)]


async def test_given_a_conflict_on_delete_and_the_same_object_then_it_is_a_conflict() -> None:
    observer = SpokenObserver()
    same = a_config_map()
    same["metadata"]["uid"] = "u"
    conflict = answer(409, status(409, "Conflict", "Precondition failed"))
    async with WireServer(conflict, answer(200, same)) as server, a_client(server.url, observer=observer) as client:
        with pytest.raises(ConflictError, match="deleting ConfigMap shop/settings: Precondition failed"):
            await client.delete(SETTINGS, uid="u", resource_version="7")
    assert observer.heard == []


@pytest.mark.parametrize("now", [answer(404, status(404, "NotFound", "x")), answer(200, a_config_map())])
async def test_given_a_conflict_on_delete_and_another_object_then_ours_is_gone(now: Step) -> None:
    observer = SpokenObserver()
    conflict = answer(409, status(409, "Conflict", "the UID in the precondition does not match"))
    async with WireServer(conflict, now) as server, a_client(server.url, observer=observer) as client:
        await client.delete(SETTINGS, uid="u", resource_version="7")
    assert observer.heard == [("deleted", SETTINGS, "u")]
