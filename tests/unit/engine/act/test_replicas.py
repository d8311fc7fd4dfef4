import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.engine_settings import AutoStop, ScheduleWindow
from firebolt_operator.api.serialise import format_time
from firebolt_operator.api.time_zones import time_zone
from firebolt_operator.engine.act.replicas import Adjustment, ReplicaAdjuster
from firebolt_operator.engine.answers import Activity, Answers, pod_key
from firebolt_operator.engine.observe.scrape import TOTAL_SECONDS
from firebolt_operator.errors import ConflictError
from firebolt_operator.look_again import After, WhenChanged
from firebolt_operator.refs import Manifest, Ref
from tests.support.engines import NOON, SECOND, a_pod, a_spec, a_status, an_engine

MINUTE = timedelta(minutes=1)
POLICY = AutoStop(enabled=True, active_replicas=3)
UNPARKED = "the engine is woken, but neither parked nor scheduled"


@dataclass
class OneEngineServer:
    """Answers a patch with the patched engine, or refuses."""

    patches: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    is_stale: bool = False

    async def merge_patch(self, ref: Ref, patch: Mapping[str, Any], /) -> Manifest:
        del ref
        if self.is_stale:
            raise ConflictError("somebody was quicker")
        self.patches.append(patch)
        metadata = {"name": "eng", "namespace": "ns", "uid": "engine-uid", "resourceVersion": "8", "generation": 4}
        return {"metadata": metadata, "spec": {"instanceRef": "inst", **patch["spec"]}}


@dataclass(frozen=True)
class Metrics:
    running: int = 0
    suspended: int = 0
    is_broken: bool = False
    idle_seconds: float | None = None

    @property
    def answer(self) -> Activity | str:
        return "does not answer" if self.is_broken else Activity(self.running, self.suspended, self.idle_seconds)


@dataclass
class Setting:
    policy: AutoStop | None = POLICY
    replicas: int = 3
    metrics: Metrics = Metrics()
    pods: int = 2
    asked: int = 2  # of the pods
    first: Metrics | None = None  # where the first pod tells something else
    asked_at: datetime | None = NOON
    wake: str = ""
    phase: str = "stable"
    most_replicas: int = 1000
    server: OneEngineServer = field(default_factory=OneEngineServer)

    async def adjust(self, status: EngineStatus) -> Adjustment:
        engine = an_engine(status=a_status(phase=self.phase))
        annotations = {names.ANNOTATION_WAKE_REQUESTED: self.wake} if self.wake else {}
        pods = [a_pod(f"eng-g0-{index}") for index in range(self.pods)]
        told = {pod_key(pod): self.metrics.answer for pod in pods[: self.asked]}
        told |= {pod_key(pods[0]): self.first.answer} if self.first else {}
        adjuster = ReplicaAdjuster(
            engine=msgspec.structs.replace(
                engine, metadata=msgspec.structs.replace(engine.metadata, annotations=annotations)
            ),
            spec=a_spec(replicas=self.replicas, auto_stop=self.policy),
            engine_class=None,
            pods=pods,
            answers=Answers(asked_at=self.asked_at, told=told) if self.asked_at else None,
            writer=self.server,
            now=NOON,
            most_replicas=self.most_replicas,
        )
        return await adjuster.adjust(status)


async def test_given_no_policy_then_it_says_so_and_forgets_activity() -> None:
    adjusted = await Setting(policy=None).adjust(a_status(last_activity_time=NOON, last_scaled_at=NOON))
    assert adjusted.status == a_status(auto_stop_reason="Disabled", last_scaled_at=NOON)
    assert adjusted.look_again == WhenChanged()


async def test_given_a_rollout_then_nothing_is_decided() -> None:
    status = a_status(phase="creating", auto_stop_reason="Idle")
    setting = Setting()
    assert (await setting.adjust(status)).status == status
    assert setting.server.patches == []


async def test_given_idleness_then_replicas_are_written_first_under_the_version_that_was_read() -> None:
    setting = Setting()
    adjusted = await setting.adjust(a_status(last_activity_time=NOON - 30 * MINUTE))
    assert setting.server.patches == [
        {"metadata": {"resourceVersion": "7", "uid": "engine-uid"}, "spec": {"replicas": 0}}
    ]
    assert (adjusted.status.auto_stop_reason, adjusted.status.last_scaled_at) == ("Idle", NOON)
    assert adjusted.engine.metadata.resource_version == "8"


async def test_given_a_person_was_quicker_then_their_edit_wins() -> None:
    with pytest.raises(ConflictError):
        await Setting(server=OneEngineServer(is_stale=True)).adjust(a_status(last_activity_time=NOON - 30 * MINUTE))


async def test_given_a_parked_engine_then_pods_on_their_way_out_are_not_asked() -> None:
    adjusted = await Setting(replicas=0, pods=1, phase="stopped").adjust(a_status(phase="stopped"))
    assert (adjusted.status.auto_stop_reason, adjusted.poll_interval) == ("Stopped", None)


NOT_YET = [
    pytest.param(Setting(asked_at=None), id="nobody-asked"),
    pytest.param(Setting(asked_at=NOON - 11 * SECOND), id="too-long-ago"),
    pytest.param(Setting(asked_at=NOON + SECOND), id="before-the-clock-went-back"),
    pytest.param(Setting(asked=1), id="not-all-of-them"),
]


@pytest.mark.parametrize("setting", NOT_YET)
async def test_given_no_answer_yet_then_nothing_is_parked_and_what_was_said_stays(setting: Setting) -> None:
    status = a_status(last_activity_time=NOON - 60 * MINUTE, auto_stop_reason="ActivityObserved")
    adjusted = await setting.adjust(status)
    assert (setting.server.patches, adjusted.status) == ([], status)
    assert adjusted.poll_interval == MINUTE


@pytest.mark.parametrize("reason", ["", "Disabled", "Stopped", "ScheduleActive", "Idle"])
async def test_given_no_answer_yet_of_an_engine_that_got_nodes_then_it_is_initializing(reason: str) -> None:
    adjusted = await Setting(asked_at=None).adjust(a_status(auto_stop_reason=reason))
    assert (adjusted.status.auto_stop_reason, adjusted.status.last_activity_time) == ("Initializing", NOON)
    later = await Setting(asked_at=None).adjust(a_status(auto_stop_reason=reason, last_activity_time=NOON - MINUTE))
    assert (later.status.auto_stop_reason, later.status.last_activity_time) == ("Initializing", NOON - MINUTE)


async def test_given_the_same_answer_twice_then_it_is_news_once() -> None:
    setting = Setting(metrics=Metrics(running=1), asked_at=NOON - 5.5 * SECOND)
    first = await setting.adjust(a_status(last_activity_time=NOON - 60 * MINUTE))
    assert first.status.last_activity_time == NOON - 6 * SECOND
    assert (await setting.adjust(first.status)).status == first.status


async def test_given_quiet_then_nothing_is_written() -> None:
    status = a_status(last_activity_time=NOON - MINUTE, auto_stop_reason="ActivityObserved")
    assert (await Setting().adjust(status)).status == status


@pytest.mark.parametrize("metrics", [Metrics(running=1), Metrics(suspended=1), Metrics(running=1, suspended=1)])
async def test_given_queries_then_the_idle_clock_moves_on(metrics: Metrics) -> None:
    adjusted = await Setting(metrics=metrics).adjust(a_status(last_activity_time=NOON - 60 * MINUTE))
    assert (adjusted.status.auto_stop_reason, adjusted.status.last_activity_time) == ("ActivityObserved", NOON)


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(Setting(metrics=Metrics(is_broken=True)), id="a-pod-does-not-answer"),
        pytest.param(Setting(pods=0), id="no-pod-runs"),
    ],
)
async def test_given_no_knowledge_then_it_counts_as_activity(setting: Setting) -> None:
    adjusted = await setting.adjust(a_status(last_activity_time=NOON - 60 * MINUTE))
    assert (adjusted.status.auto_stop_reason, adjusted.status.last_activity_time) == ("ScrapeFailed", NOON)


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        pytest.param(Metrics(is_broken=True), "ScrapeFailed", id="silence-until-the-time-limit"),
        pytest.param(Metrics(running=1), "ActivityObserved", id="queries"),
    ],
)
async def test_given_bad_news_that_come_late_then_they_count_as_of_the_question(metrics: Metrics, reason: str) -> None:
    """Only idleness grows old: a pod that hangs takes all of its time, and one quiet answer later nobody is parked."""
    late = Setting(metrics=metrics, asked_at=NOON - (TOTAL_SECONDS + 2) * SECOND)
    adjusted = await late.adjust(a_status(last_activity_time=NOON - 60 * MINUTE))
    assert (adjusted.status.auto_stop_reason, adjusted.status.last_activity_time) == (reason, NOON - 12 * SECOND)
    quiet = Setting()
    await quiet.adjust(adjusted.status)
    assert quiet.server.patches == []


async def test_given_a_query_for_a_parked_engine_then_it_wakes_once() -> None:
    wake = format_time(NOON - 2 * SECOND)
    setting = Setting(replicas=0, pods=0, wake=wake, phase="stopped")
    woken = await setting.adjust(a_status(phase="stopped"))
    assert setting.server.patches[0]["spec"] == {"replicas": 3}
    assert woken.status.auto_stop_reason == "WakeRequested"
    assert (woken.status.wake_handled_at, woken.status.last_activity_time) == (NOON - 2 * SECOND, NOON)
    again = Setting(replicas=0, pods=0, wake=wake, phase="stopped")
    parked = await again.adjust(a_status(phase="stopped", wake_handled_at=NOON - 2 * SECOND))
    assert (again.server.patches, parked.status.auto_stop_reason) == ([], "Stopped")


async def test_given_a_request_to_a_running_engine_then_it_counts_as_handled() -> None:
    adjusted = await Setting(wake=format_time(NOON)).adjust(a_status(last_activity_time=NOON))
    assert (adjusted.status.wake_handled_at, adjusted.engine.metadata.resource_version) == (NOON, "7")


async def test_given_a_request_during_a_rollout_then_it_counts_as_handled_too() -> None:
    """Otherwise it would wake the engine again, were it stopped right after."""
    adjusted = await Setting(wake=format_time(NOON)).adjust(a_status(phase="creating"))
    assert adjusted.status == a_status(phase="creating", wake_handled_at=NOON)


async def test_given_a_request_while_parking_is_under_way_then_it_is_still_to_be_heard() -> None:
    status = a_status(phase="draining")
    assert (await Setting(wake=format_time(NOON), replicas=0).adjust(status)).status == status


async def test_given_a_request_to_an_engine_that_is_parked_now_then_it_does_not_wake_it_at_once() -> None:
    setting = Setting(wake=format_time(NOON - MINUTE))
    adjusted = await setting.adjust(a_status(last_activity_time=NOON - 30 * MINUTE))
    assert setting.server.patches[0]["spec"] == {"replicas": 0}
    assert adjusted.status.wake_handled_at == NOON - MINUTE


async def test_given_an_older_request_of_another_gateway_then_the_newest_stays_handled() -> None:
    status = a_status(last_activity_time=NOON, wake_handled_at=NOON, auto_stop_reason="ActivityObserved")
    assert (await Setting(wake=format_time(NOON - MINUTE)).adjust(status)).status == status


async def test_given_a_request_from_far_ahead_then_it_is_neither_handled_nor_heard() -> None:
    wake = format_time(NOON + timedelta(hours=1))
    setting = Setting(replicas=0, pods=0, wake=wake, phase="stopped")
    adjusted = await setting.adjust(a_status(phase="stopped"))
    assert (setting.server.patches, adjusted.status.wake_handled_at) == ([], None)


async def test_given_a_request_from_far_ahead_to_a_running_engine_then_those_of_today_are_still_heard_later() -> None:
    adjusted = await Setting(wake=format_time(NOON + timedelta(hours=1))).adjust(a_status(last_activity_time=NOON))
    assert adjusted.status.wake_handled_at is None


@pytest.mark.parametrize(
    ("ahead", "is_heard"), [pytest.param(60, True, id="a-minute-ahead"), pytest.param(61, False, id="more-than-that")]
)
async def test_given_a_gateway_whose_clock_is_ahead_then_a_minute_is_forgiven(ahead: int, is_heard: bool) -> None:
    wake = format_time(NOON + ahead * SECOND)
    setting = Setting(replicas=0, pods=0, wake=wake, phase="stopped")
    await setting.adjust(a_status(phase="stopped"))
    assert bool(setting.server.patches) == is_heard


async def test_given_an_engine_that_has_just_come_up_then_it_gets_its_whole_idle_timeout() -> None:
    setting = Setting(phase="switching")
    adjusted = await setting.adjust(a_status(last_activity_time=NOON - 60 * MINUTE))
    assert (setting.server.patches, adjusted.status.last_activity_time) == ([], NOON)


async def test_given_an_unknown_time_zone_then_people_are_warned_and_nothing_is_parked() -> None:
    policy = AutoStop(enabled=True, active_replicas=3, time_zone="Europe/Atlantis")
    setting = Setting(policy=policy)
    adjusted = await setting.adjust(a_status(last_activity_time=NOON - 60 * MINUTE))
    assert setting.server.patches == []
    (warning,) = adjusted.warnings
    assert (warning.reason, warning.note) == (
        "UnknownTimeZone",
        f"spec.autoStop.timeZone: 'Europe/Atlantis' is no time zone; {UNPARKED}",
    )


async def test_given_more_nodes_than_an_engine_may_have_then_a_wake_brings_as_many_as_it_may() -> None:
    policy = AutoStop(enabled=True, active_replicas=2_147_483_647)
    wake = format_time(NOON - SECOND)
    setting = Setting(policy=policy, replicas=0, pods=0, wake=wake, phase="stopped", most_replicas=2)
    assert (await setting.adjust(a_status(phase="stopped"))).status.auto_stop_reason == "WakeRequested"
    assert setting.server.patches[0]["spec"] == {"replicas": 2}


async def test_given_more_idle_nodes_than_an_engine_may_have_then_parking_leaves_as_many_as_it_may() -> None:
    policy = AutoStop(enabled=True, active_replicas=9, idle_replicas=5)
    setting = Setting(policy=policy, replicas=3, most_replicas=2)
    assert (await setting.adjust(a_status(last_activity_time=NOON - 60 * MINUTE))).status.auto_stop_reason == "Idle"
    assert setting.server.patches[0]["spec"] == {"replicas": 2}


ALL_DAY = [ScheduleWindow(start="00:00", end="23:59")]
MALFORMED = [
    pytest.param(AutoStop(enabled=True, active_replicas=3, schedule=ALL_DAY, idle_timeout="30 minutes"), id="idle"),
    pytest.param(AutoStop(enabled=True, active_replicas=3, schedule=ALL_DAY, poll_interval="often"), id="poll"),
]


@pytest.mark.parametrize("policy", MALFORMED)
async def test_given_a_malformed_duration_then_the_engine_wakes_all_the_same(policy: AutoStop) -> None:
    setting = Setting(policy=policy, replicas=0, pods=0, wake=format_time(NOON - SECOND), phase="stopped")
    woken = await setting.adjust(a_status(phase="stopped"))
    assert setting.server.patches[0]["spec"] == {"replicas": 3}
    assert (woken.status.auto_stop_reason, woken.look_again) == ("WakeRequested", After(MINUTE))


@pytest.mark.parametrize("policy", MALFORMED)
async def test_given_a_malformed_duration_then_nothing_is_parked_and_no_window_opens(policy: AutoStop) -> None:
    running, parked = Setting(policy=policy), Setting(policy=policy, replicas=0, pods=0, phase="stopped")
    idle = await running.adjust(a_status(last_activity_time=NOON - 600 * MINUTE))
    stopped = await parked.adjust(a_status(phase="stopped"))
    assert (running.server.patches, parked.server.patches) == ([], [])
    assert (idle.status.auto_stop_reason, stopped.status.auto_stop_reason) == ("ActivityObserved", "Stopped")
    assert idle.warnings == ()


def test_time_zones() -> None:
    assert time_zone("Europe/Berlin") is not None
    assert [time_zone(name) for name in ("Nowhere", "", "../../etc/passwd")] == [None, None, None]


IDLE_LONG = Metrics(idle_seconds=3600)
IDLE_SHORT = Metrics(idle_seconds=60)


@pytest.mark.parametrize(
    ("setting", "before", "after", "reason"),
    [
        pytest.param(
            Setting(metrics=IDLE_LONG, first=IDLE_SHORT),
            NOON - 30 * MINUTE,
            NOON - MINUTE,
            "ActivityObserved",
            id="work-between-two-looks-is-seen-and-the-shortest-counts",
        ),
        pytest.param(
            Setting(metrics=IDLE_LONG),
            NOON - 10 * MINUTE,
            NOON - 10 * MINUTE,
            "ActivityObserved",
            id="an-engine-that-has-just-come-up-keeps-its-grace",
        ),
        pytest.param(
            Setting(metrics=IDLE_LONG),
            NOON - 30 * MINUTE,
            NOON - 30 * MINUTE,
            "Idle",
            id="idle-by-both-clocks",
        ),
        pytest.param(
            Setting(metrics=Metrics(running=1, idle_seconds=3600)),
            NOON - 30 * MINUTE,
            NOON,
            "ActivityObserved",
            id="a-query-that-runs-counts-whatever-the-pod-says-of-idleness",
        ),
        pytest.param(
            Setting(metrics=Metrics(), first=IDLE_SHORT),
            NOON - 30 * MINUTE,
            NOON - 30 * MINUTE,
            "Idle",
            id="one-pod-that-does-not-tell-leaves-it-to-the-queries",
        ),
        pytest.param(
            Setting(metrics=IDLE_LONG, first=Metrics(idle_seconds=math.nan)),
            NOON - 30 * MINUTE,
            NOON,
            "ScrapeFailed",
            id="nonsense-is-taken-for-work",
        ),
        pytest.param(
            Setting(metrics=Metrics(idle_seconds=599)),
            NOON - 10 * MINUTE,
            NOON - 10 * MINUTE,
            "ActivityObserved",
            id="a-second-is-no-news",
        ),
    ],
)
async def test_idle_times_that_pods_tell_themselves(
    setting: Setting, before: datetime, after: datetime, reason: str
) -> None:
    adjusted = await setting.adjust(a_status(last_activity_time=before))
    assert (adjusted.status.last_activity_time, adjusted.status.auto_stop_reason) == (after, reason)


async def test_a_first_look_gives_a_whole_idle_timeout_whatever_pods_tell() -> None:
    adjusted = await Setting(metrics=IDLE_LONG).adjust(a_status())
    assert (adjusted.status.last_activity_time, adjusted.status.auto_stop_reason) == (NOON, "Initializing")
