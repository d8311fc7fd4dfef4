"""Can people read an explanation, and copy its commands?"""

import io

import yaml
from rich.console import Console

from kubectl_firebolt.explain.finding import Explanation, blocks, note
from kubectl_firebolt.explain.words import as_document, told
from kubectl_firebolt.lists import as_yaml

COMMAND = f"kubectl logs {'x' * 60}"
EXPLAINED = Explanation(
    subject="engine e1",
    state="not ready (Rolling), phase creating",
    is_well=False,
    findings=[
        blocks(
            "one [red] thing that takes more than one line to be told of", "mend it, and then mend it again", COMMAND
        ),
        note("another", "leave it"),
    ],
    next_step="Nothing.",
    warnings=["1m ago, Pod/e1-g0-0: Failed: words that are a little longer"],
    unseen=["leases: forbidden"],
)
TEXT = f"""\
engine e1: not ready (Rolling), phase
creating

1. blocks  one [red] thing that takes
   more than one line to be told of
   fix: mend it, and then mend it again
   {COMMAND}

2. note  another
   fix: leave it

next: Nothing.

warnings:
   1m ago, Pod/e1-g0-0: Failed: words
   that are a little longer

could not look at:
   leases: forbidden
"""


def test_words_are_broken_and_commands_are_not() -> None:
    page = io.StringIO()
    told(EXPLAINED, Console(file=page, width=40))
    assert page.getvalue() == TEXT


def test_programs_get_all_of_it() -> None:
    document = yaml.load(as_yaml(as_document(EXPLAINED)), yaml.CSafeLoader)
    assert document["findings"][0]["command"] == COMMAND
    assert document["findings"][1] == {"weight": "note", "what": "another", "fix": "leave it", "command": ""}
