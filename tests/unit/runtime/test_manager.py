"""The order of starting and stopping, and the exit code of every end."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from firebolt_operator.errors import ConfigurationError, FencedError, TransientError
from firebolt_operator.runtime import manager as manager_module
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.manager import Manager
from tests.support.manual_clock import idle
from tests.unit.runtime.builders import Pod
from tests.unit.runtime.following import following
from tests.unit.runtime.memory_reader import MemoryReader


@dataclass
class Diary:
    """Everything that happened, in order."""

    lines: list[str] = field(default_factory=list[str])


@dataclass
class AServer:
    diary: Diary
    name: str = "server"
    error: Exception | None = None

    async def start(self) -> None:
        self.diary.lines.append(f"{self.name} starts")
        if self.error:
            raise self.error

    async def stop(self) -> None:
        self.diary.lines.append(f"{self.name} stops")


@dataclass
class AnInformer:
    diary: Diary
    name: str = "pods"
    synced: asyncio.Event = field(default_factory=asyncio.Event)
    error: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        self.diary.lines.append(f"{self.name} runs")
        try:
            await self.error.wait()
        finally:
            self.diary.lines.append(f"{self.name} ends")

    async def refresh(self) -> None:
        self.diary.lines.append(f"{self.name} listed anew")


@dataclass
class AlreadyRunning:
    """A real informer, whose loop belongs to the test."""

    informer: Informer[Pod]
    name: str = "pods"

    @property
    def synced(self) -> asyncio.Event:
        return self.informer.synced

    async def run(self) -> None:
        await asyncio.Event().wait()

    async def refresh(self) -> None:
        await self.informer.refresh()


@dataclass
class AController:
    diary: Diary
    name: str = "controller"
    seconds_to_finish: float = 0.0
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        self.diary.lines.append("controller runs")
        try:
            await self.closed.wait()
            await asyncio.sleep(self.seconds_to_finish)
        except asyncio.CancelledError:
            self.diary.lines.append("controller is cancelled")
            raise
        self.diary.lines.append("controller finishes")

    def close(self) -> None:
        self.closed.set()


@dataclass
class AnElection:
    diary: Diary
    won: asyncio.Event = field(default_factory=asyncio.Event)
    lost: asyncio.Event = field(default_factory=asyncio.Event)

    async def acquire(self) -> None:
        await self.won.wait()
        self.diary.lines.append("lease won")

    async def hold(self) -> None:
        await self.lost.wait()
        raise FencedError("the lease is not ours any more")

    async def release(self) -> None:
        self.diary.lines.append("lease released")


@dataclass
class Setting:
    diary: Diary = field(default_factory=Diary)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    server: AServer = field(init=False)
    informer: AnInformer = field(init=False)
    controller: AController = field(init=False)
    election: AnElection = field(init=False)
    exit_code: int | None = None

    def __post_init__(self) -> None:
        self.server = AServer(self.diary)
        self.informer = AnInformer(self.diary)
        self.controller = AController(self.diary)
        self.election = AnElection(self.diary)

    def manager(self, *, has_election: bool = True, sync_seconds: float = 60) -> Manager:
        return Manager(
            servers=[self.server],
            informers=[self.informer],
            controllers=[self.controller],
            election=self.election if has_election else None,
            sync_seconds=sync_seconds,
        )


@asynccontextmanager
async def running(setting: Setting, manager: Manager) -> AsyncGenerator[None]:
    """Until it ends by itself; whoever needs that sets `stop`."""

    async def run() -> None:
        setting.exit_code = await manager.run_until(setting.stop)

    async with asyncio.timeout(15), asyncio.TaskGroup() as group:
        group.create_task(run(), name="manager")
        await idle()
        yield


async def test_given_a_start_then_servers_come_first_and_controllers_wait_for_caches_and_for_the_lease() -> None:
    setting = Setting()
    manager = replace(setting.manager(), synced=lambda: setting.diary.lines.append("caches filled"))
    async with running(setting, manager):
        before_sync = list(setting.diary.lines)
        setting.informer.synced.set()
        await idle()
        before_lease = list(setting.diary.lines)
        setting.election.won.set()
        await idle()
        setting.stop.set()
    assert before_sync == ["server starts", "pods runs"]
    assert before_lease == [*before_sync, "caches filled"]
    assert setting.diary.lines[3:] == [
        "lease won",
        "pods listed anew",
        "controller runs",
        "controller finishes",
        "lease released",
        "pods ends",
        "server stops",
    ]
    assert setting.exit_code == 0


async def test_given_an_api_server_that_fails_while_the_caches_are_listed_anew_then_work_waits_until_it_is_back() -> (
    None
):
    setting, reader = Setting(), MemoryReader()
    async with following(reader) as followed:
        informer = AlreadyRunning(followed.informer)
        manager = Manager(informers=[informer], controllers=[setting.controller], election=setting.election)
        async with running(setting, manager):
            reader.failures = [TransientError("HTTP 503"), TransientError("HTTP 503")]
            setting.election.won.set()
            await idle()
            before = list(setting.diary.lines)
            await followed.clock.advance(5)
            setting.stop.set()
    assert before == ["lease won"]
    assert setting.diary.lines == ["lease won", "controller runs", "controller finishes", "lease released"]
    assert (reader.requests, setting.exit_code) == (["list", "watch from 10", *["list"] * 3, "watch from 10"], 0)


async def test_given_a_stop_while_the_caches_are_listed_anew_then_the_lease_is_released() -> None:
    setting, reader = Setting(), MemoryReader()
    async with following(reader) as followed:
        informer = AlreadyRunning(followed.informer)
        manager = Manager(informers=[informer], controllers=[setting.controller], election=setting.election)
        async with running(setting, manager):
            reader.failures = [TransientError("HTTP 503")] * 9
            setting.election.won.set()
            await idle()
            setting.stop.set()
    assert (setting.diary.lines, setting.exit_code) == (["lease won", "lease released"], 0)


async def test_given_no_election_then_controllers_start_with_the_caches() -> None:
    setting = Setting()
    setting.informer.synced.set()
    async with running(setting, setting.manager(has_election=False)):
        assert setting.diary.lines[-1] == "controller runs"
        setting.stop.set()
    assert setting.exit_code == 0


@pytest.mark.parametrize("is_synced", [True, False])
async def test_given_a_stop_while_waiting_then_it_ends_well_without_work(*, is_synced: bool) -> None:
    setting = Setting()
    if is_synced:
        setting.informer.synced.set()
    async with running(setting, setting.manager()):
        setting.stop.set()
    assert "controller runs" not in setting.diary.lines
    assert (setting.diary.lines[-1], setting.exit_code) == ("server stops", 0)


async def test_given_a_lease_won_at_the_moment_of_a_stop_then_it_is_released() -> None:
    setting = Setting()
    setting.informer.synced.set()
    async with running(setting, setting.manager()):
        setting.election.won.set()
        setting.stop.set()
    assert "controller runs" not in setting.diary.lines
    assert (setting.diary.lines[2:4], setting.exit_code) == (["lease won", "lease released"], 0)


async def test_given_caches_that_do_not_fill_then_the_exit_code_is_1_and_the_log_names_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    setting = Setting()
    async with running(setting, setting.manager(sync_seconds=0.05)):
        pass
    assert setting.exit_code == 1
    assert "caches not synced within 0.05 s: pods" in str(caplog.records[-1].__dict__["error"])


async def test_given_a_lost_lease_then_work_is_cancelled_at_once_and_the_exit_code_is_1() -> None:
    setting = Setting()
    setting.informer.synced.set()
    setting.election.won.set()
    setting.controller.seconds_to_finish = 60
    async with running(setting, setting.manager()):
        setting.election.lost.set()
    assert setting.exit_code == 1
    assert setting.diary.lines[-3:] == ["controller is cancelled", "pods ends", "server stops"]
    assert "lease released" not in setting.diary.lines


async def test_given_passes_that_take_too_long_then_they_are_cancelled_before_the_lease_is_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(manager_module, "FINISH_SECONDS", 0.05)
    setting = Setting()
    setting.informer.synced.set()
    setting.election.won.set()
    setting.controller.seconds_to_finish = 60
    async with running(setting, setting.manager()):
        await idle()
        setting.stop.set()
    assert setting.diary.lines[-4:] == ["controller is cancelled", "lease released", "pods ends", "server stops"]
    assert setting.exit_code == 0


async def test_given_a_server_that_cannot_start_then_nothing_else_does() -> None:
    setting = Setting()
    setting.server.error = ConfigurationError("address in use")
    async with running(setting, setting.manager()):
        pass
    assert (setting.diary.lines, setting.exit_code) == (["server starts"], 1)


async def test_given_an_informer_that_ends_then_the_process_does_not_go_on_half_blind() -> None:
    setting = Setting()
    setting.informer.synced.set()
    async with running(setting, setting.manager(has_election=False)):
        setting.informer.error.set()
    assert setting.exit_code == 1
