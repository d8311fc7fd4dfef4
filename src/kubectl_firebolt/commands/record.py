"""kubectl firebolt record."""

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from kubectl_firebolt.clock import monotonic, utc_now
from kubectl_firebolt.commands.shared import EngineName, session_of
from kubectl_firebolt.durations import parse_duration
from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.followed_engine import FollowedEngine
from kubectl_firebolt.kubectl.invocation import ENGINE
from kubectl_firebolt.manifest import Manifest
from kubectl_firebolt.names import EnginePhase
from kubectl_firebolt.picture.answers import spoken
from kubectl_firebolt.picture.canvas import clock
from kubectl_firebolt.picture.page import page as render_page
from kubectl_firebolt.picture.recorder import Recorder
from kubectl_firebolt.picture.recording import Highlight, Recording, Told
from kubectl_firebolt.running import run_async
from kubectl_firebolt.session import Session
from kubectl_firebolt.status.decide.rollout import Arrival, rollout
from kubectl_firebolt.status.view import line

Page = Annotated[str, typer.Option(help="Where the picture goes; ENGINE.html if nothing is said.")]
For = Annotated[
    str, typer.Option("--for", help="How long to record, like 90s or 10m; until Ctrl+C if nothing is said.")
]
UntilReady = Annotated[bool, typer.Option("--until-settled", help="End when a rollout has begun and has arrived.")]


def record_engine(
    context: typer.Context, name: EngineName, page: Page = "", for_: For = "", until_settled: UntilReady = False
) -> None:
    """Follow an engine and draw what happened to it: phases, generations and pods over time, as one HTML file.

    Start it before a change. Ctrl+C ends it and writes the page.
    """
    session = session_of(context)
    limit = parse_duration("--for", for_) if for_ else None
    place = Path(page or f"{name}.html")
    followed = FollowedEngine(session, name)
    if session.print_commands(*(part.watching for part in followed.parts())):
        return
    _require_writable(place)
    began_at, began = monotonic(), utc_now().strftime("%Y-%m-%d %H:%M UTC")
    recorder = Recorder(name, lambda: monotonic() - began_at)
    session.say(f"recording {name}; Ctrl+C ends it and writes {place}")
    with contextlib.suppress(KeyboardInterrupt):
        run_async(_recorded(session, followed, recorder, limit=limit, until_settled=until_settled))
    told = Told(kicker="kubectl firebolt record", began=began, since="the recording began", story="")
    recording = recorder.recording(told, [])
    told = replace(told, story=_story(recording), highlights=_highlights(recording))
    place.write_text(render_page(replace(recording, told=told)), encoding="utf-8")
    session.say(f"the picture of it: {place}")


def _require_writable(place: Path) -> None:
    """Before an hour is recorded for nothing."""
    try:
        place.open("a", encoding="utf-8").close()
    except OSError as err:
        raise PluginError(f"--page: {place} cannot be written: {err.strerror}") from err


async def _recorded(
    session: Session, followed: FollowedEngine, recorder: Recorder, *, limit: timedelta | None, until_settled: bool
) -> None:
    told = _Told(session, followed, recorder)
    seconds = None if limit is None else limit.total_seconds()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(part.follow(), name=part.resource) for part in followed.parts(told.take)]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await (told.settled if until_settled else asyncio.Event()).wait()
        for task in tasks:
            task.cancel()


@dataclass(slots=True)
class _Told:
    """Every single event counts: two that come at once are still two changes."""

    session: Session
    followed: FollowedEngine
    recorder: Recorder
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    last: str = ""
    has_begun: bool = False

    def take(self, resource: str, kind: str, manifest: Manifest) -> None:
        recorder = self.recorder
        {ENGINE: recorder.engine, "statefulset": recorder.statefulset, "pod": recorder.pod}[resource](kind, manifest)
        if self.followed.engine is None:
            return
        shown = rollout(self.followed.seen(utc_now()))
        words = line(shown)
        if words != self.last:
            self.session.say(words)
        self.last, self.has_begun = words, self.has_begun or shown.is_under_way
        if self.has_begun and shown.arrival is Arrival.ARRIVED:
            self.settled.set()


def _highlights(recording: Recording) -> list[Highlight]:
    starts = [
        span.ready_at - span.began_at for span in recording.pods if span.ready_at and span.ready_at > span.began_at
    ]
    slowest = [Highlight(value=spoken(max(starts)), label="slowest pod until it was ready")] if starts else []
    drained = [span.ended_at - span.began_at for span in recording.phases if span.phase == EnginePhase.DRAINING]
    longest = [Highlight(value=spoken(max(drained)), label="longest drain")] if drained else []
    return [Highlight(value=clock(recording.seconds), label="recorded"), *slowest, *longest]


def _story(recording: Recording) -> str:
    if not recording.phases:
        return "The engine was not there, or said nothing of itself."
    went = [span.phase for span in recording.phases]
    if len(went) == 1:
        return f"The engine was {went[0]} all the time."
    return f"The engine went from {went[0]} to {went[-1]}, with {len(went) - 1} changes of its phase on the way."
