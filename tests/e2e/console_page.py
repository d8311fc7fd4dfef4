"""What a page shows of a terminal: files, commands and what these say. All of it can be done, and compared."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^# (\S+\.yaml)\n")
_ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Step:
    command: str
    shown: str  # what the page says that it says


@dataclass(frozen=True, slots=True)
class Page:
    text: str

    @classmethod
    def read(cls, name: str) -> "Page":
        return cls((REPOSITORY / "docs" / name).read_text())

    def files(self) -> dict[str, str]:
        """Blocks of YAML that begin with their name."""
        bodies = [body for kind, body in _BLOCK.findall(self.text) if kind == "yaml"]
        return {found[1]: body for body in bodies if (found := _FILE.match(body))}

    def steps(self) -> Iterator[Step]:
        for kind, body in _BLOCK.findall(self.text):
            if kind == "console":
                for part in body.removeprefix("$ ").split("\n$ "):
                    command, _, shown = part.partition("\n")
                    yield Step(command, shown.strip())

    def first_cells(self) -> list[str]:
        """Of every table row that begins with something to be read in a terminal."""
        return _ROW.findall(self.text)


def said(command: str, *, program: Path, options: Sequence[str], folder: Path) -> str:
    """Everything that it prints, whichever way."""
    name, *words = shlex.split(command)
    assert name == "kubectl", command
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(
        [str(program), *options, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    return done.stdout.strip()
