"""kubectl firebolt engine stop, start and restart."""

from typing import Annotated

import typer

from kubectl_firebolt.auto_stop import after_stop, nodes_to_start
from kubectl_firebolt.clock import utc_now
from kubectl_firebolt.commands.shared import EngineName, Timeout, session_of
from kubectl_firebolt.durations import parse_duration
from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.kubectl.invocation import (
    ENGINE,
    ENGINE_CLASS,
    Invocation,
    describe_hint,
    get,
    merge_patch,
    scale,
    wait_for_phase,
    wait_for_ready,
)
from kubectl_firebolt.manifest import Manifest, spec_of
from kubectl_firebolt.names import EnginePhase
from kubectl_firebolt.restart import restart_patch
from kubectl_firebolt.session import Session

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is done.")]
Nodes = Annotated[
    int,
    typer.Option(min=0, help="Number of nodes; 0, the default, takes those of auto-stop, or what was last applied."),
]


def stop_engine(context: typer.Context, name: EngineName, wait: Wait = True, timeout: Timeout = "5m") -> None:
    """Stop an engine: running queries are finished, then all nodes go."""
    session = session_of(context)
    parse_duration("--timeout", timeout)
    steps = [scale(session.target, name, 0)]
    steps += [wait_for_phase(session.target, name, EnginePhase.STOPPED, timeout)] if wait else []
    if session.print_commands(*steps):
        return
    engine, engine_class = _with_class(session, name)
    _run(session, name, steps)
    session.say(after_stop(engine, engine_class))


def start_engine(
    context: typer.Context, name: EngineName, replicas: Nodes = 0, wait: Wait = True, timeout: Timeout = "5m"
) -> None:
    """Start a stopped engine."""
    session = session_of(context)
    parse_duration("--timeout", timeout)
    nodes = replicas or _nodes(session, name)
    steps = [scale(session.target, name, nodes)]
    steps += [wait_for_ready(session.target, name, timeout)] if wait else []
    if not session.print_commands(*steps):
        _run(session, name, steps)


def _nodes(session: Session, name: str) -> int:
    if session.is_printing:
        raise PluginError("--print-commands asks no cluster how many nodes the engine has: say --replicas")
    engine, engine_class = _with_class(session, name)
    running = spec_of(engine).get("replicas", 1)
    if running:
        raise PluginError(f"{ENGINE}/{name} is not stopped, it has {running} node(s); --replicas changes their number")
    nodes = nodes_to_start(engine, engine_class)
    if nodes is None:
        raise PluginError(f"nothing tells how many nodes {ENGINE}/{name} had: say --replicas")
    return nodes


def restart_engine(context: typer.Context, name: EngineName, wait: Wait = True, timeout: Timeout = "5m") -> None:
    """Replace all nodes by new ones, without losing a query: the same spec as a new generation."""
    session = session_of(context)
    parse_duration("--timeout", timeout)
    patch = restart_patch(utc_now())
    steps = [merge_patch(session.target, f"restart {ENGINE}/{name}", name, patch)]
    steps += [wait_for_ready(session.target, name, timeout)] if wait else []
    if session.print_commands(*steps):
        return
    engine = session.kubectl.object(get(session.target, ENGINE, name)) or {}
    if spec_of(engine).get("replicas", 1) == 0:
        raise PluginError(
            f"{ENGINE}/{name} is stopped, there is nothing to restart: kubectl firebolt engine start {name}"
        )
    _run(session, name, steps)


def _with_class(session: Session, name: str) -> tuple[Manifest, Manifest | None]:
    engine = session.kubectl.object(get(session.target, ENGINE, name)) or {}
    reference = spec_of(engine).get("engineClassRef")
    if not reference:
        return engine, None
    return engine, session.kubectl.object(get(session.target, ENGINE_CLASS, reference, "--ignore-not-found"))


def _run(session: Session, name: str, steps: list[Invocation]) -> None:
    hint = describe_hint(session.target, name)
    for step in steps:
        session.kubectl.stream(step, hint if "wait" in step.arguments else "")
