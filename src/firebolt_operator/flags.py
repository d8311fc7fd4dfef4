"""How command-line words become values: the flag grammar every sub-command shares.

One or two dashes, `--name=value` or `--name value`; a boolean takes its value only after `=`; the last of a repeated
flag wins; a word that belongs to no flag is refused, because what it was meant to say would be lost. An argparse parser
cannot be taught these rules, and charts in the field rely on them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


class Kind(Enum):
    TEXT = "text"
    BOOLEAN = "boolean"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    name: str
    help: str
    kind: Kind = Kind.TEXT
    default: str = ""
    environment: str = ""  # a variable that changes the default


class UsageError(Exception):
    """The words on the command line make no sense: show the usage and exit with 2."""


class HelpRequested(Exception):  # noqa: N818 - not an error
    """Someone asked for -h or --help."""


def parse_flags(words: Sequence[str], flags: Sequence[Flag], environment: Mapping[str, str]) -> dict[str, str]:
    """Every flag's value as text; defaults, then the environment, then the command line."""
    known = {flag.name: flag for flag in flags}
    values = {flag.name: environment.get(flag.environment) or flag.default for flag in flags}
    rest = list(words)
    last = ""
    while rest:
        name, value = _take(rest, known, last)
        values[name], last = value, name
    return values


def _take(rest: list[str], known: Mapping[str, Flag], last: str) -> tuple[str, str]:
    word = rest.pop(0)
    if not word.startswith("-") or word in {"-", "--"}:
        raise UsageError(_stray(word, known.get(last)))
    name, equals, value = word.removeprefix("-").removeprefix("-").partition("=")
    if name in {"h", "help"}:
        raise HelpRequested
    flag = known.get(name)
    if flag is None:
        raise UsageError(f"flag provided but not defined: -{name}")
    if not equals:
        value = _separate_value(flag, rest)
    _check(flag, value)
    return name, value


def _stray(word: str, before: Flag | None) -> str:
    if before is not None and before.kind is Kind.BOOLEAN and word in BOOLEANS:
        return f'unexpected argument "{word}": write --{before.name}={word}'
    return f'unexpected argument "{word}"'


def _separate_value(flag: Flag, rest: list[str]) -> str:
    if flag.kind is Kind.BOOLEAN:
        return "true"
    if not rest:
        raise UsageError(f"flag needs an argument: -{flag.name}")
    return rest.pop(0)


def _check(flag: Flag, value: str) -> None:
    if flag.kind is Kind.BOOLEAN and value not in BOOLEANS:
        raise UsageError(f'invalid boolean value "{value}" for -{flag.name}: use true or false')
    if flag.kind is Kind.NUMBER and not value.removeprefix("-").isdigit():
        raise UsageError(f'invalid value "{value}" for flag -{flag.name}: not a whole number')


def usage(program: str, flags: Sequence[Flag]) -> str:
    lines = [f"Usage: {program} [flags]", ""]
    for flag in sorted(flags, key=lambda each: each.name):
        default = f' (default "{flag.default}")' if flag.default else ""
        lines += [
            f"  --{flag.name}{'' if flag.kind is Kind.BOOLEAN else ' ' + flag.kind.value}",
            f"        {flag.help}{default}",
        ]
    return "\n".join(lines)
