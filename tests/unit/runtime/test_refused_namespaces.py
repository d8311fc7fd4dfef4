"""What if one of several namespaces may not be read any more? The others go on, and nothing is changed in that one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from firebolt_operator.errors import ForbiddenError, NotFoundError, OperatorError, TransientError
from firebolt_operator.kube.ports import Scope
from firebolt_operator.look_again import WHEN_CHANGED, After
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.informer import BLIND_SECONDS
from firebolt_operator.runtime.known_namespaces import REASON, KnownNamespaces
from firebolt_operator.runtime.manager import Manager
from firebolt_operator.runtime.objects import Key
from tests.support.manual_clock import idle
from tests.unit.runtime.following import Setting, following
from tests.unit.runtime.memory_reader import MemoryReader

BOTH = Coverage(namespaces=("a", "b"))
FORBIDDEN = ForbiddenError("pods is forbidden", status=403)
GONE = NotFoundError("namespace not found", status=404)


@dataclass
class PartlyClosed(MemoryReader):
    """Refuses some namespaces, as a server does whose RoleBinding there was deleted."""

    closed: dict[str, OperatorError] = field(default_factory=dict[str, OperatorError])

    def _begin(self, verb: str, scope: Scope) -> None:
        super()._begin(verb, scope)
        if scope.namespace in self.closed:
            raise self.closed[scope.namespace]


@asynccontextmanager
async def both(**closed: OperatorError) -> AsyncGenerator[tuple[PartlyClosed, Setting]]:
    reader = PartlyClosed(closed=dict(closed))
    reader.put("one", "a")
    reader.put("two", "b")
    async with following(reader, BOTH) as setting:
        yield reader, setting


async def pass_time(setting: Setting, seconds: float) -> None:
    for _ in range(int(seconds)):
        await setting.clock.advance(1.0)
        await idle()


@pytest.mark.parametrize("refusal", [FORBIDDEN, GONE], ids=["403", "404"])
async def test_given_a_refused_namespace_at_the_start_then_the_others_are_known_and_it_is_not(
    refusal: OperatorError,
) -> None:
    async with both(b=refusal) as (reader, setting):
        informer = setting.informer
        assert informer.synced.is_set()
        assert informer.why_unknown("a") == ""
        assert "pods in b" in informer.why_unknown("b")
        assert informer.refused_parts() == {"a": False, "b": True}
        reader.closed.clear()
        await pass_time(setting, 90)
        assert informer.why_unknown("b") == ""
        assert setting.names == ["one", "two"]


@pytest.mark.parametrize(
    "closed",
    [{"a": FORBIDDEN, "b": FORBIDDEN}, {"b": TransientError("HTTP 500")}],
    ids=["no namespace at all", "an outage"],
)
async def test_what_is_no_refusal_of_one_namespace_is_waited_for(closed: dict[str, OperatorError]) -> None:
    async with both(**closed) as (_, setting):
        assert not setting.informer.synced.is_set()


async def test_given_rights_that_are_lost_while_it_runs_then_nothing_more_is_decided_there() -> None:
    async with both() as (reader, setting):
        assert setting.informer.why_unknown("b") == ""
        reader.closed["b"] = FORBIDDEN
        reader.cut()
        await pass_time(setting, 90)
        assert setting.informer.why_unknown("b") != ""
        assert setting.informer.why_unknown("a") == ""
        assert setting.names == ["one", "two"]  # nothing looks deleted


async def test_given_a_part_that_fails_for_long_then_what_is_known_is_too_old() -> None:
    async with both() as (reader, setting):
        reader.closed["b"] = TransientError("HTTP 500")
        reader.cut()
        await pass_time(setting, BLIND_SECONDS / 2)
        assert setting.informer.why_unknown("b") == ""
        await pass_time(setting, BLIND_SECONDS)
        assert "neither lists nor watches" in setting.informer.why_unknown("b")
        assert setting.informer.why_unknown("a") == ""


async def test_given_one_refused_namespace_then_a_refresh_ends_with_the_others() -> None:
    async with both() as (reader, setting):
        reader.closed["b"] = FORBIDDEN
        reader.put("three", "a")
        await setting.informer.refresh()
        assert "three" in setting.names
        assert setting.informer.why_unknown("b") != ""


@dataclass
class AlwaysElected:
    reader: PartlyClosed

    async def acquire(self) -> None:
        self.reader.closed["b"] = FORBIDDEN  # while it was a standby, all was well

    async def hold(self) -> None:
        await asyncio.Event().wait()

    async def release(self) -> None:
        pass


@dataclass
class ItsWork:
    began: asyncio.Event = field(default_factory=asyncio.Event)
    name: str = "engines"

    async def run(self) -> None:
        self.began.set()
        await asyncio.Event().wait()

    def close(self) -> None:
        pass


class Elsewhere:
    """An informer whose loop belongs to the test."""

    def __init__(self, setting: Setting) -> None:
        self.name = "pods"
        self.synced = setting.informer.synced
        self.refresh = setting.informer.refresh

    async def run(self) -> None:
        await asyncio.Event().wait()


@pytest.mark.parametrize("is_takeover", [False, True])
async def test_the_manager_works_on_the_others(is_takeover: bool) -> None:
    closed = {} if is_takeover else {"b": FORBIDDEN}
    async with both(**closed) as (reader, setting):
        work = ItsWork()
        election = AlwaysElected(reader) if is_takeover else None
        manager = Manager(informers=[Elsewhere(setting)], controllers=[work], election=election)
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            running = group.create_task(manager.run_until(asyncio.Event()), name="manager")
            await work.began.wait()
            running.cancel()


@dataclass
class Reasons:
    why: dict[str, str] = field(default_factory=dict[str, str])

    def why_unknown(self, namespace: str) -> str:
        return self.why.get(namespace, "")


async def test_an_object_of_an_unknown_namespace_gets_no_pass_and_is_counted_and_comes_back() -> None:
    passes, put_off = list[Key](), list[str]()

    async def reconcile(key: Key) -> Outcome:
        passes.append(key)
        return Outcome("done")

    pods, engines = Reasons({"b": "pods in b: refused"}), Reasons()
    guarded = KnownNamespaces(put_off.append, [engines, pods]).guard(reconcile)
    assert (await guarded(("a", "x"))).look_again == WHEN_CHANGED
    waiting = await guarded(("b", "x"))
    assert (passes, put_off) == ([("a", "x")], ["b"])
    assert waiting.reason == REASON
    assert isinstance(waiting.look_again, After)
    assert waiting.look_again.wait <= timedelta(seconds=30)
    pods.why.clear()
    await guarded(("b", "x"))
    assert passes[-1] == ("b", "x")
