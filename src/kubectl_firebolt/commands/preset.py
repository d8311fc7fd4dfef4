"""kubectl firebolt preset."""

from typing import Annotated

import typer

from kubectl_firebolt.commands.shared import Output, parse_format, session_of, show_help
from kubectl_firebolt.kubectl.invocation import ENGINE_PRESET, get, list_
from kubectl_firebolt.lists import PRESETS, listed
from kubectl_firebolt.names import PRESET_NAME

app = typer.Typer(
    help="Presets: what all engines of a namespace have in common.", callback=show_help, invoke_without_command=True
)


@app.command("list")
def list_presets(context: typer.Context, output: Output = "table") -> None:
    """List the preset of a namespace: there is one, or none."""
    form, session = parse_format(output), session_of(context)
    invocation = list_(session.target, ENGINE_PRESET)
    if not session.print_commands(invocation):
        session.say(listed(PRESETS, session.kubectl.items(invocation), form))


@app.command("get")
def get_preset(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Its name; there is only one.")] = PRESET_NAME,
    output: Output = "table",
) -> None:
    """Show one preset."""
    form, session = parse_format(output), session_of(context)
    invocation = get(session.target, ENGINE_PRESET, name)
    if not session.print_commands(invocation):
        found = session.kubectl.object(invocation)
        session.say(listed(PRESETS, [found] if found else [], form))
