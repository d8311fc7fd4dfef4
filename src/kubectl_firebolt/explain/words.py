"""How is an explanation told to people, and to programs?"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from rich.console import Console
from rich.text import Text

from kubectl_firebolt.explain.finding import Explanation, Finding, Weight
from kubectl_firebolt.manifest import Manifest

_INDENT: Final = " " * 3
_STYLES: Final = {Weight.BLOCKS: "bold red", Weight.WAITS: "yellow", Weight.NOTE: "cyan"}


def told(explanation: Explanation, console: Console) -> None:
    for line in _Teller(console).lines(explanation):
        # Lines are broken already; a command stays in one piece, however long: people copy it.
        console.print(line, highlight=False, soft_wrap=True)


def as_document(explanation: Explanation) -> Manifest:
    """Of nothing but what JSON has."""
    plain: Manifest = json.loads(json.dumps(asdict(explanation)))
    return plain


class _Teller:
    def __init__(self, console: Console) -> None:
        self._console = console

    def lines(self, explanation: Explanation) -> Iterator[Text]:
        style = "bold green" if explanation.is_well else "bold red"
        yield from self._broken(Text.assemble((explanation.subject, "bold"), ": ", (explanation.state, style)), "")
        for number, finding in enumerate(explanation.findings, start=1):
            yield Text()
            yield from self._finding(number, finding)
        yield Text()
        yield from self._broken(Text.assemble(("next: ", "bold"), explanation.next_step), "")
        for title, entries in (("warnings:", explanation.warnings), ("could not look at:", explanation.unseen)):
            if entries:
                yield Text()
                yield Text(title, style="bold")
            for entry in entries:
                yield from self._broken(Text(entry), _INDENT)

    def _finding(self, number: int, finding: Finding) -> Iterator[Text]:
        title = Text.assemble(f"{number}. ", (finding.weight, _STYLES[finding.weight]), f"  {finding.what}")
        first, *rest = self._broken(title, "")
        yield first
        for line in rest:
            yield from self._broken(line, _INDENT)
        yield from self._broken(Text.assemble(("fix: ", "bold"), finding.fix), _INDENT)
        if finding.command:
            yield Text(f"{_INDENT}{finding.command}", style="cyan")

    def _broken(self, words: Text, indent: str) -> Iterator[Text]:
        for line in words.wrap(self._console, max(self._console.width - len(indent), 20)):
            line.rstrip()
            yield Text.assemble(indent, line)
