"""Which queries does the gateway send again, and which ones never?"""

import asyncio
import socket

import pytest

from firebolt_operator.refs import Manifest
from tests.dataplane.conftest import StartRig
from tests.support.dataplane.engine_pod import QUERY_PORT, EnginePod
from tests.support.dataplane.relocation import engine_cluster
from tests.support.dataplane.rig import Rig, eventually

MIB = 1024 * 1024
UNKNOWN = "unknown"


async def known_pods(rig: Rig, count: int) -> list[EnginePod]:
    """Pods that Envoy has resolved and found healthy."""
    pods = await rig.generation(count)
    rig.point("eng", pods)
    assert (await rig.client.query("/?id=first")).status == 200
    rig.ledger.executions.clear()
    return pods


async def retries(rig: Rig) -> int:
    found = await rig.envoy.stats("upstream_rq_retry$")
    return sum(found.values())


async def test_given_a_pod_that_refuses_connections_when_asked_then_another_one_answers(rig: Rig) -> None:
    pods = await known_pods(rig, 2)
    pods[0].die()
    answers = [await rig.client.query(f"/?id=q{number}") for number in range(4)]
    assert [(answer.status, answer.headers["x-pod"]) for answer in answers] == [(200, pods[1].address)] * 4
    assert await retries(rig) > 0


async def test_given_an_address_that_swallows_connections_when_asked_then_another_one_answers(rig: Rig) -> None:
    pods = await known_pods(rig, 2)
    pods[0].die()
    with socket.socket() as full:
        # A listener that never accepts and whose queue is full drops further connections, like a lost address.
        full.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        full.bind((pods[0].address, QUERY_PORT))
        full.listen(0)
        fillers = [_filler(pods[0].address) for _ in range(3)]
        begun = asyncio.get_running_loop().time()
        answers = [await rig.client.query(f"/?id=q{number}") for number in range(2)]
        took = asyncio.get_running_loop().time() - begun
        for filler in fillers:
            filler.close()
    assert [(answer.status, answer.headers["x-pod"]) for answer in answers] == [(200, pods[1].address)] * 2
    assert took < 20.0  # a SYN is given up after a minute


def _filler(address: str) -> socket.socket:
    filler = socket.socket()
    filler.setblocking(False)
    filler.connect_ex((address, QUERY_PORT))
    return filler


async def test_given_drained_pods_when_asked_then_each_is_tried_once_until_one_answers(rig: Rig) -> None:
    pods = await known_pods(rig, 8)
    for pod in pods[:-1]:
        pod.is_drained = True
    for number in range(5):
        answer = await rig.client.query(f"/?id=q{number}")
        assert (answer.status, answer.headers["x-pod"]) == (200, pods[-1].address)
        tried = [pod for query, pod in rig.ledger.turned_away if query == f"q{number}"]
        assert len(tried) == len(set(tried))
        assert rig.ledger.counts[f"q{number}"] == 1


async def test_given_only_drained_pods_when_they_recover_then_the_waiting_query_is_answered(rig: Rig) -> None:
    pods = await known_pods(rig, 2)
    for pod in pods:
        pod.is_drained = True
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(rig.client.query("/?id=patient"))
        await asyncio.sleep(1)
        assert not waiting.done()
        # Both of them: on a machine that is too busy to answer health checks, one may be out of the set just now.
        for pod in pods:
            pod.is_drained = False
    assert waiting.result().status == 200
    assert rig.ledger.counts["patient"] == 1


async def test_given_an_engine_that_turns_a_crowd_away_when_a_sibling_needs_retries_then_it_has_them(rig: Rig) -> None:
    """Envoy counts the retries of all engines together."""
    full, sibling = await rig.generation(1), await rig.generation(2)
    for engine, pods in (("full", full), ("sibling", sibling)):
        rig.point(engine, pods)
        await rig.client.query(engine=engine)
        pods[0].is_drained = True
    async with asyncio.TaskGroup() as group:
        crowd = [group.create_task(rig.client.query(f"/?id=c{number}", "full")) for number in range(400)]
        await eventually(lambda: _turned_away(rig, 400), 30, "all of the crowd were turned away once")
        answers = [await rig.client.query(f"/?id=q{number}", "sibling") for number in range(10)]
        for task in crowd:
            task.cancel()
    assert [answer.status for answer in answers] == [200] * 10


async def _turned_away(rig: Rig, count: int) -> bool:
    return len({query for query, _ in rig.ledger.turned_away}) >= count


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_given_an_error_of_the_engine_when_answered_then_it_is_passed_on_and_not_retried(
    rig: Rig, status: int
) -> None:
    pods = await known_pods(rig, 2)
    for pod in pods:
        pod.status = status
    answer = await rig.client.query("/?id=once")
    assert (answer.status, answer.body) == (status, b"1\n")
    assert "x-firebolt-outcome" not in answer.headers
    assert rig.ledger.counts["once"] == 1
    assert await retries(rig) == 0


async def test_given_a_pod_that_dies_when_queries_run_on_it_then_they_ran_once_and_say_so(rig: Rig) -> None:
    pods = await known_pods(rig, 3)
    async with asyncio.TaskGroup() as group:
        for pod in pods:
            pod.is_silent = True
        running = {f"q{number}": group.create_task(rig.client.query(f"/?id=q{number}")) for number in range(12)}
        await eventually(lambda: _runs(pods, 12), 30, "all queries run")
        doomed = {each.query for each in rig.ledger.executions if each.pod == pods[1].address}
        pods[1].die()
        for pod in (pods[0], pods[2]):
            pod.speak()
    answers = {query: task.result() for query, task in running.items()}
    lost = {query: answer for query, answer in answers.items() if answer.status != 200}
    assert set(lost) == doomed
    assert len(doomed) == 4
    assert {(each.status, each.headers.get("x-firebolt-outcome")) for each in lost.values()} == {(503, UNKNOWN)}
    assert all(b"outcome" in each.body or b"unknown" in each.body for each in lost.values())
    assert {rig.ledger.counts[query] for query in running} == {1}


async def test_given_an_answer_that_is_no_http_when_passed_on_then_the_outcome_is_said_to_be_open(rig: Rig) -> None:
    pods = await known_pods(rig, 2)
    for pod in pods:
        pod.talks_nonsense = True
    answer = await rig.client.query("/?id=once")
    assert (answer.status, answer.headers.get("x-firebolt-outcome")) == (502, UNKNOWN)
    assert b"unknown" in answer.body
    assert rig.ledger.counts["once"] == 1


async def _runs(pods: list[EnginePod], count: int) -> bool:
    return sum(pod.running for pod in pods) == count


def checked_once(bootstrap: Manifest) -> None:
    """A pod that was found healthy stays so: its health checks would be reset as well, and take it out of the set."""
    [check] = engine_cluster(bootstrap)["health_checks"]
    check["interval"] = check["no_traffic_interval"] = "3600s"


async def test_given_a_pod_that_ends_every_connection_when_asked_then_no_query_runs_twice(start_rig: StartRig) -> None:
    """Whether such a query was sent is a race; if Envoy had sent it, only the sender may decide to send it again."""
    async with start_rig(change=checked_once) as rig:
        pods = await known_pods(rig, 2)
        pods[0].resets_connections = True
        # Those that were open before: Envoy keeps them for a second, that of the health check for as long as it likes.
        await eventually(lambda: _ends_connections(pods[0]), 30, "kept connections are over")
        before = pods[0].accepted
        answers = [await rig.client.query(f"/?id=q{number}") for number in range(40)]
        assert pods[0].accepted > before, "no query met the pod, so nothing is shown"
        assert {answer.headers.get("x-firebolt-outcome") for answer in answers if answer.status != 200} <= {UNKNOWN}
        assert {answer.status for answer in answers} <= {200, 503}
        assert rig.ledger.executed_twice() == {}


async def _ends_connections(pod: EnginePod) -> bool:
    pod.close_idle_connections()
    return not pod.connections


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        pytest.param(2 * MIB, 200, id="two-mib-are-sent-again"),
        pytest.param(2 * MIB + 1, 503, id="one-byte-more-is-not"),
        pytest.param(8 * MIB, 503, id="nor-is-much-more"),
    ],
)
async def test_given_a_body_when_its_pod_is_drained_then_it_is_sent_again_only_if_it_fits(
    rig: Rig, size: int, expected: int
) -> None:
    pods = await known_pods(rig, 2)
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    drained = await _pod_that_is_next(rig, pods)
    drained.is_drained = True
    answer = await rig.client.query("/?id=big", body=body)
    assert answer.status == expected
    assert [query for query, _ in rig.ledger.turned_away] == ["big"]
    assert [each.body_bytes for each in rig.ledger.of("big")] == ([size] if expected == 200 else [])


async def _pod_that_is_next(rig: Rig, pods: list[EnginePod]) -> EnginePod:
    """Round robin with two pods: whoever did not answer the last query."""
    last = (await rig.client.query("/?id=who")).headers["x-pod"]
    return next(pod for pod in pods if pod.address != last)


async def test_given_a_large_body_when_its_pod_is_well_then_size_is_no_limit(rig: Rig) -> None:
    await known_pods(rig, 1)
    assert (await rig.client.query("/?id=big", body=b"x" * (32 * MIB))).status == 200
    assert [each.body_bytes for each in rig.ledger.of("big")] == [32 * MIB]
