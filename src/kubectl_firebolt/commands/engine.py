"""kubectl firebolt engine: those that are there, a new one, and one less."""

from typing import Annotated

import typer

from kubectl_firebolt.commands.engine_life import restart_engine, start_engine, stop_engine
from kubectl_firebolt.commands.port_forward import forward_engine
from kubectl_firebolt.commands.shared import (
    EngineName,
    Output,
    Timeout,
    complete_instance,
    parse_format,
    session_of,
    show_help,
)
from kubectl_firebolt.durations import parse_duration
from kubectl_firebolt.engine_manifest import DEFAULT_STORAGE, Wanted, engine_manifest, has_bucket
from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.kubectl.invocation import (
    ENGINE,
    ENGINE_CLASS,
    apply_,
    delete,
    describe_hint,
    get,
    list_,
    wait_for_ready,
)
from kubectl_firebolt.lists import ENGINES, as_yaml, listed
from kubectl_firebolt.manifest import spec_of
from kubectl_firebolt.session import Session

app = typer.Typer(help="Engines: the nodes that run queries.", callback=show_help, invoke_without_command=True)

app.command("stop")(stop_engine)
app.command("start")(start_engine)
app.command("restart")(restart_engine)
app.command("port-forward")(forward_engine)

NewName = Annotated[str, typer.Argument(metavar="ENGINE", help="Name of the new engine.")]
OfInstance = Annotated[str, typer.Option("--instance", help="Its instance.", autocompletion=complete_instance)]
OnlyInstance = Annotated[
    str, typer.Option("--instance", help="Only engines of this instance.", autocompletion=complete_instance)
]
Replicas = Annotated[int, typer.Option(min=0, help="Number of nodes; 0 makes a stopped engine.")]
Type = Annotated[str, typer.Option("--type", help="Engine class to inherit from.")]
Image = Annotated[str, typer.Option(help="Image of the engine container.")]
Bucket = Annotated[str, typer.Option(help="Bucket for managed tables.")]
StorageType = Annotated[str, typer.Option(help="Kind of object storage; only together with --bucket.")]
HostPath = Annotated[str, typer.Option(help="Folder of the node to keep local data in.")]


@app.command("list")
def list_engines(context: typer.Context, instance: OnlyInstance = "", output: Output = "table") -> None:
    """List the engines of a namespace."""
    form, session = parse_format(output), session_of(context)
    invocation = list_(session.target, ENGINE)
    if session.print_commands(invocation):
        return
    found = session.kubectl.items(invocation)
    shown = [each for each in found if not instance or spec_of(each).get("instanceRef") == instance]
    session.say(listed(ENGINES, shown, form))


@app.command("create")
def create_engine(
    context: typer.Context,
    name: NewName,
    instance: OfInstance,
    replicas: Replicas = 1,
    type_: Type = "",
    image: Image = "",
    bucket: Bucket = "",
    storage_type: StorageType = DEFAULT_STORAGE,
    host_path: HostPath = "",
    timeout: Timeout = "5m",
) -> None:
    """Create an engine and wait until it is ready."""
    session = session_of(context)
    wanted = Wanted(
        name=name,
        instance=instance,
        namespace=session.target.namespace,
        replicas=replicas,
        engine_class=type_,
        image=image,
        bucket=bucket,
        storage_type=storage_type,
        host_path=host_path,
    )
    parse_duration("--timeout", timeout)
    _check_storage(session, wanted)
    applying = apply_(session.target, f"FireboltEngine/{name}", as_yaml(engine_manifest(wanted)))
    waiting = wait_for_ready(session.target, name, timeout)
    if session.print_commands(*([applying, waiting] if replicas else [applying])):
        return
    session.kubectl.stream(applying)
    if replicas:
        session.kubectl.stream(waiting, describe_hint(session.target, name))
    else:
        session.say(f"{ENGINE}/{name} has 0 replicas and stays stopped; the wait for readiness was skipped")


def _check_storage(session: Session, wanted: Wanted) -> None:
    """Only warns: a configuration that we cannot see may name the bucket."""
    if wanted.bucket:
        return
    named = f' and class "{wanted.engine_class}" names none' if wanted.engine_class else ""
    text = f"no object storage is configured: --bucket is not given{named}; the engine may not become Ready"
    if session.is_printing:
        if not wanted.engine_class:
            session.warn(text)
        return
    if wanted.engine_class:
        try:
            found = session.kubectl.object(get(session.target, ENGINE_CLASS, wanted.engine_class))
        except PluginError as err:
            session.warn(f'could not verify the object storage of class "{wanted.engine_class}": {err}')
        else:
            if found is not None and has_bucket(found):
                return
    session.warn(text)


@app.command("delete")
def delete_engine(context: typer.Context, name: EngineName) -> None:
    """Delete an engine; one that is not there is no error."""
    session = session_of(context)
    invocation = delete(session.target, name)
    if not session.print_commands(invocation):
        told = session.kubectl.capture(invocation).strip()
        session.say(told or f"{ENGINE}/{name} not found; nothing to delete")
