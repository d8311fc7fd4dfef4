"""kubectl firebolt instance port-forward, and the same for engines."""

import contextlib

import typer

from kubectl_firebolt import names
from kubectl_firebolt.commands.shared import EngineName, InstanceName, LocalPort, session_of
from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.kubectl.forward import forwarded
from kubectl_firebolt.kubectl.invocation import ENGINE, INSTANCE, Invocation, forward, get
from kubectl_firebolt.manifest import Manifest, spec_of
from kubectl_firebolt.running import run_async
from kubectl_firebolt.scheme import engine_scheme, gateway_scheme
from kubectl_firebolt.session import Session

GATEWAY_PORT = 80


def forward_instance(context: typer.Context, name: InstanceName, local_port: LocalPort = 0) -> None:
    """Reach an instance's gateway on a port of this machine. The name is the instance's, not an engine's.

    Queries need the header X-Firebolt-Engine: ENGINE.
    """
    session = session_of(context)
    asked = forward(session.target, names.gateway_name(name), local_port=local_port, remote_port=GATEWAY_PORT)
    if not session.print_commands(asked):
        _keep(session, asked, gateway_scheme(_instance(session, name)))


def forward_engine(context: typer.Context, name: EngineName, local_port: LocalPort = 0) -> None:
    """Reach an engine on a port of this machine, past the gateway: nothing holds a query or wakes the engine there."""
    session = session_of(context)
    service = names.engine_service_name(name)
    asked = forward(session.target, service, local_port=local_port, remote_port=names.PORT_QUERY)
    if not session.print_commands(asked):
        _keep(session, asked, engine_scheme(_instance_of(session, name)))


def _keep(session: Session, asked: Invocation, scheme: str) -> None:
    """Ctrl+C is how it ends."""
    with contextlib.suppress(KeyboardInterrupt):
        run_async(_forwarded(session, asked, scheme))


async def _forwarded(session: Session, asked: Invocation, scheme: str) -> None:
    async with forwarded(session.kubectl, asked) as door:
        session.say(f"Forwarding on {scheme}{'://' if scheme else ''}localhost:{door.port}", "Ctrl+C to stop.")
        await door.ended()


def _instance(session: Session, name: str) -> Manifest | None:
    """Best effort: without it nothing is said about the scheme."""
    try:
        return session.kubectl.object(get(session.target, INSTANCE, name))
    except PluginError:
        return None


def _instance_of(session: Session, engine: str) -> Manifest | None:
    try:
        found = session.kubectl.object(get(session.target, ENGINE, engine))
    except PluginError:
        return None
    return _instance(session, str(spec_of(found or {}).get("instanceRef", "")))
