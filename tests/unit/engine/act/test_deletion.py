"""What goes when an engine is deleted, and what never does."""

from typing import Any, cast

import msgspec
import pytest

from firebolt_operator.api.names import EngineReason, EventReason
from firebolt_operator.api.resources import CERTIFICATES, CONFIG_MAPS, SECRETS, SERVICES, STATEFULSETS
from firebolt_operator.engine.act.deletion import (
    Cleanup,
    cleanup_error,
    delete_children,
    lingering_verdict,
    lingering_warning,
)
from firebolt_operator.engine.views import Child
from firebolt_operator.errors import FencedError, NotFoundError, OperatorError, TransientError
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Resource, Warn
from tests.support.engines import a_child, an_engine
from tests.support.memory_server import MemoryServer

KINDS = (STATEFULSETS, SERVICES, CONFIG_MAPS, CERTIFICATES, SECRETS)


async def delete_all(server: MemoryServer) -> Cleanup:
    return await delete_children(an_engine(), cast("Any", server), cast("Any", server))


def held(child: Child, *finalizers: str) -> Child:
    return msgspec.structs.replace(child, metadata=msgspec.structs.replace(child.metadata, finalizers=list(finalizers)))


@pytest.fixture
def server() -> MemoryServer:
    made = MemoryServer()
    for resource in KINDS:
        for generation in (0, 1):
            made.put(resource, a_child(f"ours-g{generation}", generation))
    return made


async def test_all_that_the_engine_owns_goes_of_every_generation_and_by_its_uid(server: MemoryServer) -> None:
    assert await delete_all(server) == Cleanup((), ())
    names_and_uids = [("ours-g0", "uid-ours-g0"), ("ours-g1", "uid-ours-g1")]
    assert server.deleted == [(kind.kind, name, uid, "") for kind in KINDS for name, uid in names_and_uids]


@pytest.mark.parametrize("resource", KINDS, ids=lambda kind: kind.plural)
async def test_what_only_carries_our_label_stays(resource: Resource) -> None:
    server = MemoryServer()
    server.put(resource, a_child("somebody-elses", owner="another"))
    nobodys = a_child("nobodys")
    nobodys.metadata.owner_references.clear()
    server.put(resource, nobodys)
    assert await delete_all(server) == Cleanup((), ())
    assert server.deleted == []


async def test_what_is_on_its_way_out_is_not_deleted_again(server: MemoryServer) -> None:
    server.objects.clear()
    server.put(STATEFULSETS, a_child("going", deleting=True))
    await delete_all(server)
    assert server.deleted == []


async def test_foreign_finalizers_are_told_of_and_hold_nothing_up(server: MemoryServer) -> None:
    server.put(STATEFULSETS, held(a_child("ours-g0"), "example.com/one", "example.com/two"))
    server.put(CONFIG_MAPS, held(a_child("ours-g1", 1, deleting=True), "example.com/three"))
    cleanup = await delete_all(server)
    assert cleanup.lingering == (
        "  - StatefulSet/ours-g0: example.com/one, example.com/two",
        "  - ConfigMap/ours-g1: example.com/three",
    )
    assert cleanup.external_finalizers.splitlines()[1:] == list(cleanup.lingering)
    assert ("StatefulSet", "ours-g0", "uid-ours-g0", "") in server.deleted


async def test_one_kind_that_fails_holds_up_no_other_and_is_told(server: MemoryServer) -> None:
    refused = TransientError("not now")
    server.failures[SERVICES] = refused
    cleanup = await delete_all(server)
    assert cleanup.errors == (refused,)
    assert {kind for kind, *_ in server.deleted} == {"StatefulSet", "ConfigMap", "Certificate", "Secret"}
    assert str(cleanup_error(cleanup)) == "cleanup failed with 1 errors, first: not now"


async def test_without_the_lease_nothing_more_is_tried(server: MemoryServer) -> None:
    server.failures[STATEFULSETS] = FencedError("lost")
    with pytest.raises(FencedError):
        await delete_all(server)
    assert server.deleted == []


def test_only_what_lingers_is_put_in_words() -> None:
    assert Cleanup((), (OperatorError("x"),)).external_finalizers == ""


def test_status_and_event_say_the_same_of_what_lingers() -> None:
    cleanup = Cleanup(("  - Service/held: example.com/one",), ())
    said = cleanup.external_finalizers
    assert lingering_verdict(cleanup) == Verdict(status="False", reason=EngineReason.EXTERNAL_FINALIZER, message=said)
    assert lingering_warning(cleanup) == Warn(reason=EventReason.EXTERNAL_FINALIZER, action="Deleting", note=said)


@pytest.mark.parametrize(
    ("certificate", "goes"),
    [
        pytest.param("eng-g7-engine-tls", True, id="of-a-generation"),
        pytest.param("", False, id="of-nobody"),
        pytest.param("eng-gone-engine-tls", False, id="of-no-number"),
        pytest.param("other-g7-engine-tls", False, id="of-another-engine"),
        pytest.param("eng-g7-engine-tls-copy", False, id="of-another-certificate"),
    ],
)
async def test_a_secret_goes_only_if_cert_manager_wrote_it_for_a_generation(certificate: str, *, goes: bool) -> None:
    """It names no owner."""
    server, secret = MemoryServer(), a_child("secret", 7)
    secret.metadata.owner_references.clear()
    secret.metadata.annotations["cert-manager.io/certificate-name"] = certificate
    server.put(SECRETS, secret)
    await delete_all(server)
    assert bool(server.deleted) is goes


async def test_without_cert_manager_an_engine_can_be_deleted(server: MemoryServer) -> None:
    server.unlisted[CERTIFICATES] = NotFoundError("no such kind", status=404)
    server.unlisted[SERVICES] = NotFoundError("no such kind", status=404)
    cleanup = await delete_all(server)
    assert [str(error) for error in cleanup.errors] == ["no such kind"]  # of Services, which every cluster has
    assert {kind for kind, *_ in server.deleted} == {"StatefulSet", "ConfigMap", "Secret"}
