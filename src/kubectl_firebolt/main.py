"""The command line as a whole: global flags, one sentence for every error, exit codes."""

import signal
import sys
from typing import Annotated, Final, NoReturn

import typer

from kubectl_firebolt.arguments import hoisted
from kubectl_firebolt.commands import engine, instance, preset
from kubectl_firebolt.commands.explain import explain_subject
from kubectl_firebolt.commands.query import run_query
from kubectl_firebolt.commands.record import record_engine
from kubectl_firebolt.commands.shared import show_help
from kubectl_firebolt.commands.status import show_status
from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.kubectl.invocation import Target
from kubectl_firebolt.session import Session
from kubectl_firebolt.version import current_version

PROGRAM: Final = "kubectl firebolt"
_FAILED: Final = 1
_INTERRUPTED: Final = 130

app = typer.Typer(
    help="Engines and instances at a glance, changed, asked and explained. Everything is done with kubectl.",
    epilog="The options above may stand anywhere, also after a command.",
    add_completion=False,  # kubectl asks another program: completion.py
    pretty_exceptions_enable=False,
)
app.add_typer(instance.app, name="instance")
app.add_typer(engine.app, name="engine")
app.add_typer(preset.app, name="preset")
app.command("status")(show_status)
app.command("explain")(explain_subject)
app.command("query")(run_query)
app.command("record")(record_engine)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"firebolt version {current_version()}")
        raise typer.Exit


Namespace = Annotated[str, typer.Option("-n", "--namespace", help="Namespace; without it, that of kubectl's context.")]
KubeContext = Annotated[str, typer.Option("--context", help="kubectl's context.")]
Kubeconfig = Annotated[str, typer.Option("--kubeconfig", help="kubectl's configuration file.")]
PrintCommands = Annotated[
    bool, typer.Option("--print-commands", "--debug", help="Print the kubectl commands instead of running them.")
]
Version = Annotated[bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version.")]


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    namespace: Namespace = "",
    kube_context: KubeContext = "",
    kubeconfig: Kubeconfig = "",
    print_commands: PrintCommands = False,
    version: Version = False,
) -> None:
    del version
    target = Target(namespace=namespace, context=kube_context, kubeconfig=kubeconfig)
    context.obj = Session(target=target, is_printing=print_commands)
    show_help(context)


@app.command("version")
def show_version() -> None:
    """Print the version."""
    typer.echo(current_version())


def main() -> NoReturn:
    # An order to end reaches kubectl the same way as Ctrl+C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = app(hoisted(sys.argv[1:]), prog_name=PROGRAM, standalone_mode=False)
    except (PluginError, typer.TyperException) as err:
        sys.exit(_failed(_words_of(err)))
    # Typer turns Ctrl+C into the number that shells have for it.
    sys.exit(_failed("interrupted") if code == _INTERRUPTED else 0)


def _words_of(error: PluginError | typer.TyperException) -> str:
    return error.format_message() if isinstance(error, typer.TyperException) else str(error)


def _failed(text: str) -> int:
    sys.stderr.write(f"error: {text}\n")
    return _FAILED
