"""What could the next word be? kubectl asks `kubectl_complete-firebolt` when somebody presses the tabulator key."""

import contextlib
import io
import os
import shlex
import sys
from collections.abc import Sequence
from typing import Final

from typer.completion import get_completion_inspect_parameters

from kubectl_firebolt.arguments import SWITCHES, WITH_VALUE, hoisted
from kubectl_firebolt.main import app

_VARIABLE: Final = "_KUBECTL_FIREBOLT_COMPLETE"
_NO_FILES: Final = ":4"  # what kubectl's completion understands: offer no file names


def main() -> None:
    """All words so far come as arguments, the last one unfinished or empty."""
    typed = sys.argv[1:] or [""]
    sys.stdout.writelines(f"{line}\n" for line in (*offered(typed), _NO_FILES))


def offered(typed: Sequence[str]) -> list[str]:
    *before, unfinished = typed
    words = ["kubectl-firebolt", *hoisted(before)]
    asked = {_VARIABLE: "complete_bash", "COMP_WORDS": shlex.join([*words, unfinished]), "COMP_CWORD": str(len(words))}
    answer = io.StringIO()
    os.environ |= asked
    get_completion_inspect_parameters()  # makes typer's completion known to its parser
    with contextlib.redirect_stdout(answer), contextlib.suppress(SystemExit):
        app([], prog_name=words[0], complete_var=_VARIABLE)
    anywhere = [flag for flag in (*WITH_VALUE, *SWITCHES) if unfinished.startswith("-") and flag.startswith(unfinished)]
    return list(dict.fromkeys([*answer.getvalue().split(), *anywhere]))
