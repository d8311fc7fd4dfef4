"""Nothing is swept on the word of a cache: the status, the Service and the object itself are read live first."""

from typing import Any, cast

import msgspec
import pytest

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.resources import (
    CERTIFICATES,
    CONFIG_MAPS,
    FIREBOLT_ENGINES,
    SECRETS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.engine.act.sweep import NOTHING_TO_SWEEP, Sweeper, SweepResult
from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.engine.views import Child
from firebolt_operator.errors import FencedError, TransientError
from firebolt_operator.refs import Ref, Resource
from tests.support.engines import a_child, a_service, a_status, an_engine
from tests.support.memory_server import MemoryServer

ENGINE = an_engine(status=a_status(current_generation=5, active_generation=5))
OLD = a_child("old", 1)
DELETED = ("ConfigMap", "old", "uid-old", "")


def a_server(engine: FireboltEngine | None = ENGINE, child: Child | None = OLD) -> MemoryServer:
    server = MemoryServer()
    server.put(SERVICES, a_service(5))
    if engine is not None:
        server.objects[FIREBOLT_ENGINES, "eng"] = engine
    if child is not None:
        server.put(CONFIG_MAPS, child)
    return server


async def sweep(server: MemoryServer, *cached: Child, resource: Resource = CONFIG_MAPS) -> SweepResult:
    """With a cache that knows these objects, or one old one."""
    caches = engine_caches((), "")
    for child in cached or (OLD,):
        body = msgspec.to_builtins(child)
        body["metadata"]["resourceVersion"] = "5"
        caches.child_cache(resource).written(Ref(resource, "ns", child.metadata.name), msgspec.json.encode(body))
    return await Sweeper(caches, cast("Any", server), cast("Any", server)).sweep(ENGINE)


async def test_what_live_reads_confirm_goes() -> None:
    server = a_server()
    assert await sweep(server) == SweepResult(deleted=1)
    assert server.deleted == [DELETED]


async def test_pods_go_before_their_statefulset() -> None:
    server = a_server()
    server.put(STATEFULSETS, OLD)
    await sweep(server, resource=STATEFULSETS)
    assert server.deleted == [("StatefulSet", "old", "uid-old", "Foreground")]


async def test_what_is_wanted_costs_no_request() -> None:
    server = a_server()
    assert await sweep(server, a_child("new", 5)) == NOTHING_TO_SWEEP
    assert server.requests == []


@pytest.mark.parametrize(
    "server",
    [
        pytest.param(a_server(engine=None), id="the-engine-is-gone"),
        pytest.param(
            a_server(
                engine=msgspec.structs.replace(
                    ENGINE, metadata=msgspec.structs.replace(ENGINE.metadata, uid="of-a-later-engine")
                )
            ),
            id="an-engine-of-the-same-name",
        ),
        pytest.param(
            a_server(engine=an_engine(status=a_status(current_generation=5, active_generation=1))), id="it-serves"
        ),
        pytest.param(
            a_server(engine=an_engine(status=a_status(current_generation=1, active_generation=1))), id="status-is-older"
        ),
        pytest.param(a_server(child=None), id="it-is-gone"),
        pytest.param(a_server(child=a_child("old", 1, owner="another")), id="it-is-somebody-elses-by-now"),
        pytest.param(a_server(child=a_child("old", 5)), id="it-is-of-another-generation-by-now"),
        pytest.param(a_server(child=a_child("old", 1, deleting=True)), id="it-is-going"),
    ],
)
async def test_what_live_reads_do_not_confirm_stays(server: MemoryServer) -> None:
    assert (await sweep(server)).deleted == 0
    assert server.deleted == []


async def test_another_object_under_that_name_is_deleted_only_as_itself() -> None:
    server = a_server(child=a_child("old", 1, uid="made-since"))
    await sweep(server)
    assert server.deleted == [("ConfigMap", "old", "made-since", "")]


async def test_what_queries_are_sent_to_stays() -> None:
    server = a_server()
    server.put(SERVICES, a_service(1))
    assert (await sweep(server)).deleted == 0


async def test_a_delete_that_fails_is_told_and_tried_again_soon() -> None:
    server, refused = a_server(), TransientError("not now")
    server.failures[CONFIG_MAPS] = refused
    assert await sweep(server) == SweepResult(errors=(refused,), has_backlog=True)


def many(server: MemoryServer, count: int) -> list[Child]:
    children = [a_child(f"old-{number}", 1) for number in range(count)]
    for child in children:
        server.put(CONFIG_MAPS, child)
    return children


async def test_a_kind_that_cannot_be_deleted_is_tried_three_times_and_no_more() -> None:
    server, refused = a_server(), TransientError("not now")
    server.failures[CONFIG_MAPS] = refused
    assert await sweep(server, *many(server, 5)) == SweepResult(errors=(refused,) * 3, has_backlog=True)


@pytest.mark.parametrize(("count", "has_backlog"), [(100, False), (101, True)])
async def test_one_sweep_deletes_a_hundred_and_leaves_the_rest_to_the_next(count: int, has_backlog: bool) -> None:
    server = a_server()
    assert await sweep(server, *many(server, count)) == SweepResult(deleted=100, has_backlog=has_backlog)
    assert len(server.deleted) == 100


async def test_when_the_status_cannot_be_read_nothing_goes_and_the_next_sweep_comes_soon() -> None:
    server, refused = a_server(), TransientError("not now")
    server.read_failures[FIREBOLT_ENGINES] = refused
    assert await sweep(server) == SweepResult(errors=(refused,), has_backlog=True)
    assert server.deleted == []


@pytest.mark.parametrize("resource", [FIREBOLT_ENGINES, CONFIG_MAPS], ids=lambda kind: kind.plural)
async def test_without_the_lease_the_sweep_ends(resource: Resource) -> None:
    server = a_server()
    server.read_failures[resource] = FencedError("lost")
    with pytest.raises(FencedError):
        await sweep(server)


def a_secret(certificate: str) -> Child:
    secret = a_child("secret", 1)
    secret.metadata.owner_references.clear()
    secret.metadata.annotations["cert-manager.io/certificate-name"] = certificate
    return secret


@pytest.mark.parametrize(
    ("certificate", "deleted"),
    [
        pytest.param("eng-g1-engine-tls", [("Secret", "secret", "uid-secret", "")], id="of-cert-manager"),
        pytest.param("", [], id="of-a-person"),
    ],
)
async def test_of_secrets_only_what_cert_manager_wrote_for_a_generation_goes(
    certificate: str, deleted: list[tuple[str, ...]]
) -> None:
    server, secret = a_server(), a_secret(certificate)
    server.put(SECRETS, secret)
    await sweep(server, secret, resource=SECRETS)
    assert server.deleted == deleted


def test_a_secret_goes_after_its_certificate() -> None:
    order = [cache.resource for cache in engine_caches((), "").children()]
    assert order.index(CERTIFICATES) < order.index(SECRETS)
