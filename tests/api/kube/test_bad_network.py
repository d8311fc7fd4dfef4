"""A real API server that is slow, cut off in the middle of an answer, or has had enough of us."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.errors import UnansweredError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.writing import WriteRules
from tests.api.kube.conftest import a_door
from tests.api.kube.objects import a_config_map, config_map_ref

MOST_ROUNDS = 50  # the server takes a moment to learn of a new schema
AT_ONCE = 3
FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1"


@dataclass(slots=True)
class Network:
    """Between a door and the server; encrypted bytes only, so nothing but their flow can be disturbed."""

    host: str
    port: int
    delay_seconds: float = 0.0  # before every piece of an answer
    cuts: list[int] = field(default_factory=list[int])  # for each connection to come, after so many bytes of answers

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        most = self.cuts.pop(0) if self.cuts else None
        to_reader, to_writer = await asyncio.open_connection(self.host, self.port)
        try:
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(self._pump(reader, to_writer), name="questions")
                await self._pump(to_reader, writer, most, is_answer=True)
                asking.cancel()
        finally:
            for each in (writer, to_writer):
                each.transport.abort()

    async def _pump(
        self,
        source: asyncio.StreamReader,
        into: asyncio.StreamWriter,
        most: int | None = None,
        *,
        is_answer: bool = False,
    ) -> None:
        carried = 0
        while piece := await _read(source):
            if is_answer and self.delay_seconds:
                await asyncio.sleep(self.delay_seconds)
            if most is not None and carried + len(piece) > most:
                into.write(piece[: most - carried])
                into.transport.abort()
                return
            into.write(piece)
            carried += len(piece)


async def _read(source: asyncio.StreamReader) -> bytes:
    try:
        return await source.read(16_384)
    except ConnectionError:
        return b""


@asynccontextmanager
async def through_a_network(
    plane: ControlPlane, folder: Path, rules: WriteRules | None = None
) -> AsyncGenerator[tuple[KubeClient, Network]]:
    host, _, port = plane.server.removeprefix("https://").partition(":")
    network = Network(host, int(port))
    tasks: list[asyncio.Task[None]] = []
    async with asyncio.TaskGroup() as group:

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.append(group.create_task(network.carry(reader, writer), name="connection"))

        listener = await asyncio.start_server(accept, "127.0.0.1", 0)
        content = json.loads(plane.kubeconfig.read_text())
        content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        path = folder / "config"
        path.write_text(json.dumps(content))
        async with a_door(path) as door:
            yield KubeClient(door._transport, door._kinds, rules or WriteRules(), door._rng), network
        listener.close()
        for task in tasks:
            task.cancel()


async def test_given_an_answer_that_is_cut_off_then_a_read_is_repeated_and_whole(
    control_plane: ControlPlane, client: KubeClient, namespace: str, tmp_path: Path
) -> None:
    await client.create(a_config_map(namespace, blob="x" * 200_000))
    async with through_a_network(control_plane, tmp_path) as (door, network):
        network.cuts = [50_000, 100_000]
        found = await door.get(config_map_ref(namespace))
    assert found is not None
    assert found["data"] == {"blob": "x" * 200_000}
    assert network.cuts == []  # both were met


async def test_given_an_answer_that_is_cut_off_then_a_write_is_unanswered_and_not_repeated(
    control_plane: ControlPlane, client: KubeClient, namespace: str, tmp_path: Path
) -> None:
    async with through_a_network(control_plane, tmp_path) as (door, network):
        network.cuts = [50_000]
        with pytest.raises(UnansweredError, match="creating ConfigMap"):
            await door.create(a_config_map(namespace, blob="x" * 200_000))
        assert await client.get(config_map_ref(namespace)) is not None  # it happened all the same
        assert await door.get(config_map_ref(namespace)) is not None  # and the door goes on


async def test_given_a_slow_server_then_reads_wait_and_writes_end_at_their_deadline(
    control_plane: ControlPlane, client: KubeClient, namespace: str, tmp_path: Path
) -> None:
    rules = WriteRules(timeout_seconds=2.0)
    async with through_a_network(control_plane, tmp_path, rules) as (door, network):
        await door.create(a_config_map(namespace))
        network.delay_seconds = 1.0
        assert await door.get(config_map_ref(namespace)) is not None
        network.delay_seconds = 30.0
        began_at = time.monotonic()
        with pytest.raises(UnansweredError):
            await door.merge_patch(config_map_ref(namespace), {"data": {"a": "1"}})
        assert 1.5 < time.monotonic() - began_at < 6
    found = await client.get(config_map_ref(namespace))
    assert found is not None
    assert found["data"] == {"a": "1"}


@asynccontextmanager
async def one_seat_for(plane: ControlPlane, user: str) -> AsyncGenerator[None]:
    """The API server's own throttling: of this user's requests at one time all but one are answered 429."""
    level = {
        "kind": "PriorityLevelConfiguration",
        "spec": {
            "type": "Limited",
            "limited": {"nominalConcurrencyShares": 0, "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}},
        },
    }
    everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
    schema = {
        "kind": "FlowSchema",
        "spec": {
            "priorityLevelConfiguration": {"name": user},
            "matchingPrecedence": 2,
            "rules": [{"subjects": [{"kind": "User", "user": {"name": user}}], "resourceRules": [everything]}],
        },
    }
    kinds = {"prioritylevelconfigurations": level, "flowschemas": schema}
    for plural, manifest in kinds.items():
        plane.http.create(
            f"{FLOW_CONTROL}/{plural}", {"apiVersion": FLOW_CONTROL[6:], "metadata": {"name": user}, **manifest}
        )
    try:
        yield
    finally:
        for plural in reversed(kinds):
            plane.http.delete(f"{FLOW_CONTROL}/{plural}/{user}")


def may_do_everything(plane: ControlPlane, user: str, namespace: str) -> None:
    group = {"apiGroup": "rbac.authorization.k8s.io"}
    binding = {
        "apiVersion": BINDINGS[6:],
        "kind": "RoleBinding",
        "metadata": {"name": user},
        "roleRef": {**group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{**group, "kind": "User", "name": user}],
    }
    plane.http.create(f"{BINDINGS}/namespaces/{namespace}/rolebindings", binding)


class Codes:
    """What the server answered, attempt by attempt."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def request(self, method: str, code: str, seconds: float, resource: str, verb: str, /) -> None:
        del method, seconds, resource, verb
        self.seen[code] += 1


async def test_given_a_server_that_throttles_us_then_writes_wait_as_told_and_all_of_them_get_through(
    control_plane: ControlPlane, namespace: str
) -> None:
    user, codes = f"throttled-{namespace}", Codes()
    may_do_everything(control_plane, user, namespace)
    credentials = load_credentials(str(control_plane.kubeconfig_for(user, groups=())), {})
    async with KubeClient.from_credentials(credentials, recorder=codes) as door, one_seat_for(control_plane, user):
        for _ in range(MOST_ROUNDS):
            began_at = time.monotonic()
            async with asyncio.TaskGroup() as group:
                for number in range(AT_ONCE):
                    group.create_task(door.apply(a_config_map(namespace, f"s{number}", blob="x" * 200_000)))
            took = time.monotonic() - began_at
            if codes.seen["429"]:
                assert took > 1  # as the server asked
                return
    pytest.fail("the server never had enough of us")
