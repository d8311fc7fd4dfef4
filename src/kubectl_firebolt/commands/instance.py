"""kubectl firebolt instance."""

import typer

from kubectl_firebolt.commands.port_forward import forward_instance
from kubectl_firebolt.commands.shared import Output, parse_format, session_of, show_help
from kubectl_firebolt.kubectl.invocation import INSTANCE, list_
from kubectl_firebolt.lists import INSTANCES, listed

app = typer.Typer(
    help="Instances: what the engines of a namespace share.", callback=show_help, invoke_without_command=True
)


app.command("port-forward")(forward_instance)


@app.command("list")
def list_instances(context: typer.Context, output: Output = "table") -> None:
    """List the instances of a namespace."""
    form, session = parse_format(output), session_of(context)
    invocation = list_(session.target, INSTANCE)
    if not session.print_commands(invocation):
        session.say(listed(INSTANCES, session.kubectl.items(invocation), form))
