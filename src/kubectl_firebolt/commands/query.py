"""kubectl firebolt query."""

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from kubectl_firebolt import names
from kubectl_firebolt.commands.port_forward import GATEWAY_PORT
from kubectl_firebolt.commands.shared import EngineName, Output, Timeout, parse_format, session_of
from kubectl_firebolt.durations import parse_duration
from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.kubectl.forward import forwarded
from kubectl_firebolt.kubectl.invocation import ENGINE, INSTANCE, Invocation, forward, get
from kubectl_firebolt.lists import Format, as_yaml
from kubectl_firebolt.manifest import spec_of
from kubectl_firebolt.query.ask import ENGINE_HEADER, Question, Reply, Secrecy, ask
from kubectl_firebolt.query.result import parsed, table
from kubectl_firebolt.query.trust import Trust
from kubectl_firebolt.running import run_async
from kubectl_firebolt.scheme import gateway_scheme
from kubectl_firebolt.session import Session

_FORMATS: Final = (Format.TABLE, Format.JSON, Format.YAML)
_STDIN: Final = "-"

Sql = Annotated[str, typer.Argument(metavar="SQL", help="The query; - reads it from standard input.")]
InstanceOption = Annotated[str, typer.Option("--instance", help="Its instance; without it the engine is asked for it.")]
Header = Annotated[list[str], typer.Option("--header", help="One more header, like 'Authorization: Bearer ...'.")]

Authority = Annotated[Path | None, typer.Option("--ca", help="For TLS: whom to believe, a PEM file.")]
Certificate = Annotated[Path | None, typer.Option("--cert", help="For TLS with client certificates: yours, as PEM.")]
Key = Annotated[Path | None, typer.Option("--key", help="Its key, if that is in a file of its own.")]
ServerName = Annotated[
    str, typer.Option("--server-name", help="For TLS: what the certificate has to be for, unless INSTANCE-gateway.")
]


def run_query(
    context: typer.Context,
    name: EngineName,
    sql: Sql = _STDIN,
    instance: InstanceOption = "",
    header: Header = [],  # noqa: B006 - typer reads it, nobody changes it
    authority: Authority = None,
    certificate: Certificate = None,
    key: Key = None,
    server_name: ServerName = "",
    timeout: Timeout = "10m",
    output: Output = "table",
) -> None:
    """Send a query to an engine through its instance's gateway, which wakes an engine that auto-stop has parked."""
    form, session = parse_format(output, _FORMATS), session_of(context)
    patience, headers = parse_duration("--timeout", timeout), [_header(each) for each in header]
    text = sys.stdin.read() if sql == _STDIN and not session.is_printing else sql
    if not text.strip():
        raise PluginError("the query is empty: give it as an argument, or on standard input")
    trust = Trust(authority=authority, certificate=certificate, key=key, server_name=server_name)
    if session.is_printing:
        _print(session, name, instance, text, trust)
        return
    gateway = instance or _instance_of(session, name)
    secrecy = _secrecy(session, gateway, trust)
    question = Question(
        engine=name, sql=text, timeout_seconds=patience.total_seconds(), headers=headers, secrecy=secrecy
    )
    _show(session, run_async(_asked(session, _forward(session, gateway), question)), form)


async def _asked(session: Session, asked: Invocation, question: Question) -> Reply:
    async with forwarded(session.kubectl, asked) as door:
        return await asyncio.to_thread(ask, question, door.port)


def _show(session: Session, reply: Reply, form: Format) -> None:
    if reply.problem:
        raise PluginError(reply.problem)
    result = parsed(reply.body)
    if result is None or form is Format.JSON:
        session.say(reply.body.rstrip("\n"))
    elif form is Format.YAML:
        session.say(as_yaml(result).rstrip())
    else:
        session.say(table(result))


def _instance_of(session: Session, name: str) -> str:
    engine = session.kubectl.object(get(session.target, ENGINE, name)) or {}
    return str(spec_of(engine).get("instanceRef", ""))


def _secrecy(session: Session, instance: str, trust: Trust) -> Secrecy | None:
    """None for plain HTTP. Never a guess: what is meant to be secret is not sent in the clear."""
    scheme = gateway_scheme(session.kubectl.object(get(session.target, INSTANCE, instance)))
    if scheme == "https":
        return Secrecy(context=trust.context(), server_name=trust.server_name or names.gateway_name(instance))
    if not scheme:
        raise PluginError(
            f'TLS of the gateway of instance "{instance}" is being turned on, and nobody is let in:'
            f" kubectl firebolt explain instance/{instance} says how far it is"
        )
    if trust.is_given:
        raise PluginError(
            f'the gateway of instance "{instance}" speaks plain HTTP: leave --ca, --cert, --key and --server-name out'
            " if you mean that"
        )
    return None


def _forward(session: Session, instance: str) -> Invocation:
    return forward(session.target, names.gateway_name(instance), local_port=0, remote_port=GATEWAY_PORT)


def _print(session: Session, name: str, instance: str, text: str, trust: Trust) -> None:
    if not instance:
        raise PluginError("--print-commands asks no cluster for the engine's instance: say --instance")
    session.print_commands(_forward(session, instance))
    words = ["curl", *_address(instance, trust), "-H", f"{ENGINE_HEADER}: {name}", "--data-binary", text]
    session.say("", "# ask, with the port that kubectl printed", shlex.join(words))


def _address(instance: str, trust: Trust) -> list[str]:
    if not trust.is_given:
        return ["http://localhost:PORT/"]
    host = trust.server_name or names.gateway_name(instance)
    given = (("--cacert", trust.authority), ("--cert", trust.certificate), ("--key", trust.key))
    files = [word for flag, path in given if path for word in (flag, str(path))]
    return [f"https://{host}:PORT/", "--connect-to", f"{host}:PORT:localhost:PORT", *files]


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise PluginError(f'--header: "{text}" is not like Name: value')
    return name.strip(), value.strip()
