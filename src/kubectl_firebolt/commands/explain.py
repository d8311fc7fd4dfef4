"""kubectl firebolt explain."""

from typing import Annotated, Final

import typer
from rich.console import Console

from kubectl_firebolt.clock import utc_now
from kubectl_firebolt.commands.shared import Output, complete_engine, parse_format, session_of
from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.explain.decide.explanation import explain
from kubectl_firebolt.explain.observe import looks, observe
from kubectl_firebolt.explain.seen import Kind
from kubectl_firebolt.explain.words import as_document, told
from kubectl_firebolt.lists import Format, document

_FORMATS: Final = (Format.TABLE, Format.JSON, Format.YAML)

_WORDS: Final = ", ".join(f"{kind}/" for kind in Kind if kind is not Kind.ENGINE)

Subject = Annotated[
    str,
    typer.Argument(metavar="ENGINE", help=f"An engine, or a name after {_WORDS}.", autocompletion=complete_engine),
]


def explain_subject(context: typer.Context, subject: Subject, output: Output = "table") -> None:
    """Tell why an engine is not ready, what mends it, and what the operator does next.

    The same of instance/NAME and of what engines share: class/NAME, preset/NAME, clusterclass/NAME. Also for what does
    not go away: whose finalizer holds it, and the way out.
    """
    form, session = parse_format(output, _FORMATS), session_of(context)
    kind, name = _parsed(subject)
    if session.print_commands(*looks(session.target, kind, name)):
        return
    explanation = explain(observe(session, kind, name, utc_now()))
    if form is Format.TABLE:
        told(explanation, Console())
    else:
        session.say(document(as_document(explanation), form))


def _parsed(subject: str) -> tuple[Kind, str]:
    word, slash, name = subject.rpartition("/")
    if not slash:
        return Kind.ENGINE, subject
    known = {str(kind): kind for kind in Kind} | {kind.resource: kind for kind in Kind}
    if word not in known or not name:
        raise PluginError(f'"{subject}" is neither the name of an engine nor one of {_WORDS} and a name')
    return known[word], name
