"""What do reads hand out?"""

import asyncio
import json
from contextlib import aclosing

import pytest

from firebolt_operator.errors import ExpiredError, TransientError
from firebolt_operator.evidence import gathering
from firebolt_operator.kube.lease import LEASES
from firebolt_operator.kube.ports import Scope
from firebolt_operator.kube.reading import SCRAPE_LIMIT
from firebolt_operator.refs import Manifest, Ref
from tests.unit.kube.wire import (
    CONFIG_MAPS,
    SETTINGS,
    CountedRecorder,
    WireServer,
    a_client,
    a_config_map,
    a_lease,
    a_pod,
    answer,
    held_back,
    status,
)

SCOPE = Scope(resource=CONFIG_MAPS, namespace="shop")


def a_page(*names: str, token: str = "") -> Manifest:
    """Items as the API server lists them: without apiVersion and kind."""
    items = [{"metadata": {"name": name, "namespace": "shop"}} for name in names]
    return {"kind": "ConfigMapList", "metadata": {"resourceVersion": "42", "continue": token}, "items": items}


async def test_what_does_not_exist_is_none() -> None:
    async with WireServer(answer(404, status(404, "NotFound", "x"))) as server, a_client(server.url) as client:
        assert await client.get(SETTINGS) is None


async def test_whoever_asks_the_server_rests_on_more_than_caches() -> None:
    async with WireServer(answer(200, a_config_map())) as server, a_client(server.url) as client:
        with gathering() as evidence:
            await client.get(SETTINGS)
    assert evidence.is_spoiled


async def test_pages_follow_the_token_and_keep_items_as_text() -> None:
    steps = (answer(200, a_page("a", "b", token="more/=")), answer(200, a_page("c")))
    async with WireServer(*steps) as server, a_client(server.url) as client:
        pages = [page async for page in client.pages(SCOPE, limit=2)]
        targets = [request.target for request in server.requests]
    assert [[json.loads(item)["metadata"]["name"] for item in page.items] for page in pages] == [["a", "b"], ["c"]]
    assert {page.resource_version for page in pages} == {"42"}
    assert targets == [
        "/api/v1/namespaces/shop/configmaps?limit=2",
        "/api/v1/namespaces/shop/configmaps?limit=2&continue=more%2F%3D",
    ]


async def test_listed_manifests_carry_their_kind() -> None:
    async with WireServer(answer(200, a_page("settings"))) as server, a_client(server.url) as client:
        assert await client.list(SCOPE) == [a_config_map()]


async def test_an_empty_list_may_be_null() -> None:
    async with WireServer(answer(200, {"metadata": {}, "items": None})) as server, a_client(server.url) as client:
        assert await client.list(SCOPE) == []


async def test_given_a_token_that_expired_between_pages_then_the_list_must_start_over() -> None:
    steps = (answer(200, a_page("a", token="x")), answer(410, status(410, "Expired", "too old")))
    async with WireServer(*steps) as server, a_client(server.url) as client:
        with pytest.raises(ExpiredError, match="listing configmaps in shop: too old"):
            await client.list(SCOPE)


async def test_the_answer_of_a_pod() -> None:
    recorder = CountedRecorder()
    async with WireServer(answer(200, b"up 1\n")) as server, a_client(server.url, recorder=recorder) as client:
        assert await client.pod_proxy_get(a_pod(), 9090, "/metrics") == b"up 1\n"
        assert server.requests[0].target == "/api/v1/namespaces/shop/pods/web-0:9090/proxy/metrics"
    assert recorder.requests == [("GET", "200", "pods/proxy")]


async def test_a_list_a_watch_and_a_get_are_told_apart_although_all_are_gets() -> None:
    recorder = CountedRecorder()
    steps = (answer(200, a_page("a")), answer(200, {"kind": "ConfigMap"}), answer(200, b""))
    async with WireServer(*steps) as server, a_client(server.url, recorder=recorder) as client:
        await client.list(SCOPE)
        await client.get_raw(SETTINGS)
        async with aclosing(client.watch(SCOPE, resource_version="5")) as events:
            assert [event async for event in events] == []
    assert recorder.verbs == ["list", "get", "watch"]
    assert {method for method, _, _ in recorder.requests} == {"GET"}


@pytest.mark.parametrize("code", [204, 302, 404, 429, 500, 503])
async def test_a_pod_that_does_not_answer_200_is_quoted_and_asked_once(code: int) -> None:
    body = b"" if code == 204 else b"e" * 5000
    step = answer(code, body, Location="/elsewhere", Retry_After="0")
    async with WireServer(step) as server, a_client(server.url) as client:
        with pytest.raises(
            TransientError, match=f"asking Pod shop/web-0 port 9090 for /metrics: HTTP {code}"
        ) as caught:
            await client.pod_proxy_get(a_pod(), 9090, "/metrics")
        assert len(server.requests) == 1
    assert str(caught.value).count("e" * 100) <= 5  # 512 bytes


async def test_a_pod_that_talks_without_end_is_cut_off() -> None:
    async with WireServer(answer(200, b"x" * (SCRAPE_LIMIT + 1))) as server, a_client(server.url) as client:
        with pytest.raises(TransientError, match="longer than 1048576 bytes"):
            await client.pod_proxy_get(a_pod(), 9090, "/metrics")


async def test_slow_pods_hold_up_neither_calls_nor_the_lease() -> None:
    may_answer = asyncio.Event()
    slow = held_back(may_answer, answer(200, b""))
    async with (
        WireServer(slow, answer(200, a_lease())) as server,
        a_client(server.url, limit=1) as client,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(client.pod_proxy_get(a_pod(), 9090, "/metrics"), name="slow")
        await server.arrived.wait()
        group.create_task(client.pod_proxy_get(a_pod(), 9090, "/metrics"), name="queued behind it")
        await client.get(SETTINGS)
        await client.leases.update(a_lease(), timeout_seconds=5)
        assert [request.method for request in server.requests] == ["GET", "GET", "PUT"]
        may_answer.set()


async def test_slow_calls_do_not_hold_up_the_lease() -> None:
    may_answer = asyncio.Event()
    slow = held_back(may_answer, answer(200, a_config_map()))
    async with (
        WireServer(slow, answer(200, a_lease())) as server,
        a_client(server.url, limit=1) as client,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(client.get(SETTINGS), name="takes the only place")
        await server.arrived.wait()
        await client.leases.update(a_lease(), timeout_seconds=5)
        await client.leases.get(Ref(LEASES, "shop", "leader"), timeout_seconds=5)
        may_answer.set()


async def test_connections_are_kept_and_named() -> None:
    async with WireServer(answer(200, a_config_map())) as server, a_client(server.url) as client:
        for _ in range(3):
            await client.get(SETTINGS)
        headers = server.requests[0].headers
        assert server.connections == 1
    assert headers["user-agent"] == "firebolt-operator"
    assert headers["accept-encoding"] == "identity"


async def test_unknown_kinds_are_discovered_once() -> None:
    offered = {
        "resources": [
            {"name": "widgets", "kind": "Widget", "namespaced": True},
            {"name": "widgets/status", "kind": "Widget", "namespaced": True},
        ]
    }
    widget = {"apiVersion": "shop.io/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "shop"}}
    async with WireServer(answer(200, offered), answer(200, widget)) as server, a_client(server.url) as client:
        await client.apply(widget)
        await client.apply(widget)
        targets = [request.target.partition("?")[0] for request in server.requests]
    path = "/apis/shop.io/v1/namespaces/shop/widgets/w"
    assert targets == ["/apis/shop.io/v1", path, path]
