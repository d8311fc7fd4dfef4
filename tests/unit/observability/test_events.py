"""An event that is lost fails nothing, and is counted."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import CONFIG_MAPS
from firebolt_operator.engine.observe.diagnosis import EventLookup
from firebolt_operator.engine.observe.metrics import EngineMetrics
from firebolt_operator.errors import OperatorError, TransientError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Page, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.observability import events
from firebolt_operator.observability.events import BURST, EventSender
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Manifest, News, Ref, Warn
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.settings import parse_settings
from firebolt_operator.wiring.factory import ControllerFactory
from tests.support.engines import NOON, a_generation, some_facts
from tests.support.series import series_with
from tests.unit.kube.wire import SETTINGS, WireServer, a_client, answer, status

REFUSED = answer(403, status(403, "Forbidden", "no"))
ROLLING = Verdict(status="False", reason="Rolling", message="Engine is in creating phase")


@pytest.fixture
async def refused_client() -> AsyncGenerator[KubeClient]:
    async with WireServer(REFUSED) as server, a_client(server.url) as client:
        yield client


async def test_given_an_event_that_cannot_be_sent_then_it_is_counted_for_its_controller(
    refused_client: KubeClient,
) -> None:
    metrics = Metrics()
    factory = ControllerFactory(
        settings=parse_settings([], {}),
        bounds=ResourceBounds(),
        client=refused_client,
        clock=SystemClock(),
        metrics=metrics,
        identity="test",
    )
    warning = Warn(reason="Odd", action="Look", note="something is odd")
    sender = factory.events("fireboltengine")
    await sender.warn(SETTINGS, "uid", warning, now=NOON)
    while sender._unsent:
        await asyncio.wait(sender._unsent)
    assert series_with(metrics.registry, "events_lost_total{") == [
        'firebolt_operator_events_lost_total{controller="fireboltengine",why="limited"} 0.0',
        'firebolt_operator_events_lost_total{controller="fireboltengine",why="refused"} 1.0',
    ]


async def test_given_events_that_cannot_be_looked_up_then_that_is_counted_and_the_verdict_stays(
    refused_client: KubeClient,
) -> None:
    registry = CollectorRegistry()
    lookup = EventLookup(refused_client, EngineMetrics(registry))
    facts = some_facts(current=a_generation(0, total=0))
    assert await lookup.diagnose(ROLLING, facts, 2, NOON) is ROLLING
    assert "firebolt_engine_event_lookup_errors_total 1.0" in series_with(registry, "lookup_errors_total")


class Sent:
    """Takes every event."""

    def __init__(self) -> None:
        self.notes = list[tuple[str, str]]()
        self.types = list[str]()

    async def create(self, manifest: Manifest, /) -> Manifest:
        self.notes.append((manifest["metadata"]["namespace"], manifest["note"]))
        self.types.append(manifest["type"])
        return manifest


class Lost:
    def __init__(self) -> None:
        self.count = 0

    def event_lost(self, controller: str, why: str, /) -> None:
        assert (controller, why) == ("test", "limited")
        self.count += 1


def an_event(number: int) -> Warn:
    return Warn(reason="Odd", action="Look", note=f"something is odd about {number}")


async def test_given_a_crowd_in_one_namespace_then_warnings_of_others_are_neither_late_nor_news_again() -> None:
    sent, lost = Sent(), Lost()
    sender = EventSender(cast("Any", sent), controller="test", instance="test", counter=lost)
    calm, crowded = Ref(CONFIG_MAPS, "calm", "one"), Ref(CONFIG_MAPS, "crowded", "many")
    await sender.warn(calm, "uid", an_event(0), now=NOON)
    for number in range(BURST + 100):
        await sender.warn(crowded, f"uid-{number}", an_event(number), now=NOON)
    await sender.warn(calm, "uid", an_event(0), now=NOON)
    await sender.warn(calm, "other", an_event(1), now=NOON)
    assert (len(sent.notes), lost.count) == (BURST + 2, 100)
    assert [note for note in sent.notes if note[0] == "calm"] == [
        ("calm", an_event(0).note),
        ("calm", an_event(1).note),
    ]


async def test_given_a_crowd_then_its_namespace_is_heard_again_one_by_one() -> None:
    sent, lost = Sent(), Lost()
    sender = EventSender(cast("Any", sent), controller="test", instance="test", counter=lost)
    for seconds in (0, 0, 3, 3):
        for number in range(BURST if not lost.count else 10):
            now = NOON + timedelta(seconds=seconds)
            await sender.warn(SETTINGS, f"uid-{len(sent.notes)}-{number}", an_event(number), now=now)
    assert len(sent.notes) == BURST + 3


async def test_given_more_objects_than_are_remembered_then_the_oldest_are_news_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "MOST_REMEMBERED", 2)
    sent = Sent()
    sender = EventSender(cast("Any", sent), controller="test", instance="test")
    for uid in ("a", "b", "c", "c", "b", "a"):
        await sender.warn(SETTINGS, uid, an_event(0), now=NOON)
    assert len(sent.notes) == 4
    sender.settle(SETTINGS.namespace, "a", "Odd")
    sender.settle("nowhere", "a", "Odd")
    await sender.warn(SETTINGS, "a", an_event(0), now=NOON)
    assert len(sent.notes) == 5


def some_news(number: int = 0) -> News:
    return News(reason="Good", action="Work", note=f"something went well {number}")


async def test_given_news_then_they_are_normal_and_told_each_time_that_they_happen() -> None:
    sent = Sent()
    sender = EventSender(cast("Any", sent), controller="test", instance="test")
    for _ in range(2):
        await sender.tell(SETTINGS, "uid", some_news(), now=NOON)
    await sender.warn(SETTINGS, "uid", an_event(0), now=NOON)
    assert sent.types == ["Normal", "Normal", "Warning"]


async def test_given_a_flood_of_news_then_warnings_of_the_namespace_are_sent_all_the_same() -> None:
    sent, lost = Sent(), Lost()
    sender = EventSender(cast("Any", sent), controller="test", instance="test", counter=lost)
    for number in range(BURST + 50):
        await sender.tell(SETTINGS, "uid", some_news(number), now=NOON)
    assert (len(sent.notes), lost.count) == (BURST, 50)
    await sender.warn(SETTINGS, "uid", an_event(0), now=NOON)
    assert sent.types[-1] == "Warning"


class ManyEvents:
    """Any number of them, page after page."""

    def __init__(self) -> None:
        self.limits = list[int]()

    async def pages(self, scope: Scope, /, *, limit: int = 500) -> AsyncGenerator[Page]:
        assert scope.fields == "involvedObject.uid=uid-g0,type=Warning"
        while True:
            self.limits.append(limit)
            yield Page([b'{"type":"Warning","reason":"FailedCreate","message":"no"}', SetAside(b"{")], "1")


async def test_given_any_number_of_events_then_one_page_of_them_is_read() -> None:
    reader = ManyEvents()
    lookup = EventLookup(cast("Any", reader), EngineMetrics(CollectorRegistry()))
    found = await lookup.warnings_of(ObjectMeta(namespace="ns", name="eng-g0", uid="uid-g0"))
    assert (found, reader.limits) == ([{"type": "Warning", "reason": "FailedCreate", "message": "no"}], [100])


class Slow(Sent):
    """Answers when the test says so, and then the way it says."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.answers = asyncio.Event()
        self.error: OperatorError | None = None

    async def create(self, manifest: Manifest, /) -> Manifest:
        self.asked += 1
        await self.answers.wait()
        if self.error is not None:
            raise self.error
        return await super().create(manifest)


async def test_given_a_server_that_answers_then_an_event_is_sent_before_its_teller_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "MOMENT_SECONDS", 10.0)
    slow = Slow()
    sender = EventSender(cast("Any", slow), controller="test", instance="test")
    asyncio.get_running_loop().call_later(0.01, slow.answers.set)
    await sender.tell(SETTINGS, "uid", some_news(), now=NOON)
    assert len(slow.notes) == 1


async def test_given_a_server_that_takes_no_events_then_nobody_waits_and_few_are_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "MOST_UNSENT", 10)
    slow, lost = Slow(), Lost()
    sender = EventSender(cast("Any", slow), controller="test", instance="test", counter=lost)
    async with asyncio.timeout(10):
        for number in range(12):
            await sender.tell(SETTINGS, "uid", some_news(number), now=NOON)
    assert (slow.asked, lost.count) == (events.MOST_AT_ONCE, 2)
    slow.answers.set()
    await asyncio.wait(sender._unsent)
    assert [note for _, note in slow.notes] == [some_news(number).note for number in range(10)]


async def test_given_a_warning_under_way_then_it_is_not_sent_again_unless_it_was_refused() -> None:
    slow = Slow()
    sender = EventSender(cast("Any", slow), controller="test", instance="test")
    for error in (TransientError("not now"), None):
        slow.answers.clear()
        slow.error = error
        for _ in range(2):
            await sender.warn(SETTINGS, "uid", an_event(0), now=NOON)
        slow.answers.set()
        await asyncio.wait(sender._unsent)
    assert (slow.asked, len(slow.notes)) == (2, 1)
