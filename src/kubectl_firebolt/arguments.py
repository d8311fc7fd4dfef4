"""Where may flags stand that concern every command? Anywhere, as with kubectl itself."""

from collections.abc import Sequence
from typing import Final

WITH_VALUE: Final = ("-n", "--namespace", "--context", "--kubeconfig")
SWITCHES: Final = ("--print-commands", "--debug")


def hoisted(arguments: Sequence[str]) -> list[str]:
    """The same arguments with those flags before the command, where the parser looks for them."""
    front, rest, words = list[str](), list[str](), list(arguments)
    while words:
        word = words.pop(0)
        if word == "--":
            rest += [word, *words]
            break
        if word in SWITCHES or _has_value_inside(word):
            front.append(word)
        elif word in WITH_VALUE:
            front += [word, *words[:1]]
            words = words[1:]
        else:
            rest.append(word)
    return front + rest


def _has_value_inside(word: str) -> bool:
    is_long = word.startswith(tuple(f"{flag}=" for flag in WITH_VALUE[1:]))
    return is_long or (word.startswith("-n") and len(word) > len("-n"))
