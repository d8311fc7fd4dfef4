"""kubectl firebolt status."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.live import Live

from kubectl_firebolt.clock import monotonic, utc_now
from kubectl_firebolt.commands.shared import EngineName, session_of
from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.followed_engine import FollowedEngine
from kubectl_firebolt.running import run_async
from kubectl_firebolt.session import Session
from kubectl_firebolt.status.decide.rollout import Arrival, Rollout, rollout
from kubectl_firebolt.status.view import line, view

_REDRAW_SECONDS: Final = 1.0  # ages grow while nothing happens

Once = Annotated[bool, typer.Option("--once", help="Show where it is, and end.")]
KeepOn = Annotated[bool, typer.Option("--keep-on", help="Go on when the engine has arrived; Ctrl+C ends it.")]
Show = Callable[[Rollout], None]


def show_status(context: typer.Context, name: EngineName, once: Once = False, keep_on: KeepOn = False) -> None:
    """Follow a rollout live: phase, generations, pods, and what comes next. Ends when the engine has arrived.

    Where output is no terminal, every change is a line. The exit code is 1 if a person has to act.
    """
    session = session_of(context)
    followed = FollowedEngine(session, name)
    if session.print_commands(*followed.looks(), *([] if once else [part.watching for part in followed.parts()])):
        return
    followed.look()
    if followed.engine is None:
        raise PluginError(f'engine "{name}" is not there; kubectl firebolt engine list shows those that are')
    if once:
        Console().print(view(rollout(followed.seen(utc_now()))), highlight=False)
        return
    with contextlib.suppress(KeyboardInterrupt):
        _end(name, _shown(session, followed, keep_on=keep_on))


def _end(name: str, last: Rollout) -> None:
    if last.arrival is Arrival.STUCK:
        raise PluginError(f"{name} needs a person: kubectl firebolt explain {name}")
    if last.arrival is Arrival.GONE:
        raise PluginError(f'engine "{name}" was deleted')


def _shown(session: Session, followed: FollowedEngine, *, keep_on: bool) -> Rollout:
    console = Console()
    if not console.is_terminal:
        return run_async(_follow(followed, _lines(session), keep_on=keep_on))
    with Live(console=console, auto_refresh=False) as live:
        return run_async(_follow(followed, lambda shown: live.update(view(shown), refresh=True), keep_on=keep_on))


def _lines(session: Session) -> Show:
    began_at, last = monotonic(), [""]

    def show(shown: Rollout) -> None:
        words = line(shown)
        if words != last[0]:
            last[0] = words
            session.say(f"{monotonic() - began_at:6.1f} s  {words}")

    return show


async def _follow(followed: FollowedEngine, show: Show, *, keep_on: bool) -> Rollout:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(part.follow(), name=part.resource) for part in followed.parts()]
        shown = rollout(followed.seen(utc_now()))
        while True:
            show(shown)
            if shown.arrival is not Arrival.ON_THE_WAY and not keep_on:
                break
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(followed.changed.wait(), _REDRAW_SECONDS)
            followed.changed.clear()
            shown = rollout(followed.seen(utc_now()))
        for task in tasks:
            task.cancel()
    return shown
