"""What several commands share: the session, and how names and formats are completed."""

from typing import Annotated

import typer

from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.kubectl.invocation import ENGINE, INSTANCE, Target, invocation
from kubectl_firebolt.kubectl.run import Kubectl
from kubectl_firebolt.lists import Format
from kubectl_firebolt.session import Session


def session_of(context: typer.Context) -> Session:
    session = context.find_object(Session)
    if session is None:
        raise RuntimeError("a command was started without its session")
    return session


def show_help(context: typer.Context) -> None:
    """A group without a command tells what there is."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def parse_format(text: str, allowed: tuple[Format, ...] = tuple(Format)) -> Format:
    """Before the cluster is asked for anything."""
    chosen = text or Format.TABLE
    if chosen not in {str(each) for each in allowed}:
        raise PluginError(f'-o/--output: "{text}" is not one of {", ".join(allowed)}')
    return Format(chosen)


def _named(context: typer.Context, resource: str) -> list[str]:
    """What the shell offers for a name; the flags typed so far count."""
    given = context.find_root().params
    target = Target(
        namespace=given.get("namespace") or "",
        context=given.get("kube_context") or "",
        kubeconfig=given.get("kubeconfig") or "",
    )
    found = Kubectl().first_words([invocation(target, "complete", "get", resource, "-o", "name")])
    return [word.rpartition("/")[2] for word in found]


def complete_engine(ctx: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _named(ctx, ENGINE) if name.startswith(incomplete)]


def complete_instance(ctx: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _named(ctx, INSTANCE) if name.startswith(incomplete)]


def complete_format(incomplete: str) -> list[str]:
    return [str(each) for each in Format if each.startswith(incomplete)]


EngineName = Annotated[
    str, typer.Argument(metavar="ENGINE", help="Name of the engine.", autocompletion=complete_engine)
]
InstanceName = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE", help="Name of the instance, not of an engine.", autocompletion=complete_instance
    ),
]
Output = Annotated[
    str,
    typer.Option("-o", "--output", help="One of table, wide, json, yaml, name.", autocompletion=complete_format),
]
LocalPort = Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")]
Timeout = Annotated[str, typer.Option(help="How long to wait, like 180s, 5m or 1h30m.")]
