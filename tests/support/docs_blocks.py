"""What is written in the pages: blocks of manifests and of commands."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[2]
PAGES: Final = tuple(sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]))
FENCE: Final = re.compile(r"(?:^ *(<!-- [^\n]* -->)\n)?^( *)```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PROMPT: Final = "$ "
PROGRAMS: Final = frozenset(
    {
        "cd",
        "curl",
        "docker",
        "export",
        "firebolt-local",
        "helm",
        "kubeconform",
        "kubectl",
        "make",
        "modprobe",
        "pip",
        "pytest",
    }
    | {"python", "skopeo", "sudo", ".venv/bin/python"}
)


@dataclass(frozen=True, slots=True)
class Block:
    page: str
    number: int  # of all blocks of the page
    language: str
    text: str
    comment: str = ""  # in the line above it

    def __str__(self) -> str:
        return f"{self.page}:{self.number}"


def blocks() -> Iterator[Block]:
    for page in PAGES:
        for number, (comment, indent, language, text) in enumerate(FENCE.findall(page.read_text()), start=1):
            lines = [line.removeprefix(indent) for line in text.splitlines()]
            yield Block(str(page.relative_to(REPOSITORY)), number, language, "\n".join(lines), comment)


def manifests() -> list[Block]:
    return [block for block in blocks() if block.language == "yaml"]


def scripts() -> list[Block]:
    """Blocks of commands; of those with prompts, without what the commands print."""
    candidates = [block for block in blocks() if block.language in {"", "console"}]
    return [Block(each.page, each.number, "bash", script) for each in candidates if (script := commands_of(each))]


def commands_of(block: Block) -> str:
    """Without what they print."""
    text, lines = block.text, block.text.splitlines()
    if any(line.startswith(PROMPT) for line in lines):
        return "\n".join(_after_prompts(lines))
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return (
        text if _begins_a_command(first) and not _is_followed_by_its_output(lines) else first * _begins_a_command(first)
    )


def _after_prompts(lines: list[str]) -> Iterator[str]:
    goes_on = False
    for line in lines:
        if goes_on or line.startswith(PROMPT):
            yield line.removeprefix(PROMPT)
            goes_on = line.endswith("\\")


def _begins_a_command(line: str) -> bool:
    words = [word for word in line.split() if not re.match(r"[A-Z_0-9]+=", word)]
    return not line.startswith(" ") and bool(words) and words[0] in PROGRAMS


def _is_followed_by_its_output(lines: list[str]) -> bool:
    """A table of kubectl stands below the command that prints it."""
    return any(re.match(r"NAME\s{2,}", line) for line in lines)


def words_of(script: str) -> Iterator[list[str]]:
    """Each simple command of a script, as words; what a here-document holds is no command."""
    joined = re.sub(r"<<-?'?(\w+)'?.*?^\1$", "", script.replace("\\\n", " "), flags=re.MULTILINE | re.DOTALL)
    for line in joined.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;")
        lexer.whitespace_split = True
        command: list[str] = []
        for word in lexer:
            if set(word) <= set("|&;"):
                yield command
                command = []
            elif not (not command and (re.match(r"[A-Z_0-9]+=", word) or word == "sudo")):
                command.append(word)
        yield command
